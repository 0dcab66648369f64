"""The assistant: a question in a conversation's form, answered over a workbook or over the nominated ones."""
