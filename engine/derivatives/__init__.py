"""Derivatives beyond one gradient: batches of cotangents, Jacobians, Hessians, higher orders."""
