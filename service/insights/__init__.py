"""Insights: nominated workbooks are analysed, and questions about them answered."""
