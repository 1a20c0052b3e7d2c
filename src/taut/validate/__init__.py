"""The analytic cases: numbers that formulas from outside of taut give, and what taut gives for them (`taut validate`)."""
