"""Make portfolios: the front door of workbooks, of columns and of stored loans."""
