"""Commands about what people make of findings: calibration, and the human queue."""
