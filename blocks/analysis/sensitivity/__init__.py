"""How do variables and events of a run change with parameters? Variational equations, saltation."""
