"""Run validation rules: commands and checks, bounded in time, memory and what they leave."""
