"""The documentation as a site: pages made from classes, pictures, and what Sphinx makes of them."""
