"""What of a model is drawn? Its network as parts and nets, its motion as shapes along an axis."""
