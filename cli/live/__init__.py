"""`aval live`: the real model, everything else simulated, on a throw-away stack."""
