"""The assistant: a question in a conversation's form.

It answers over a workbook or over the nominated workbooks, by `service/insights` and `core/questions`;
`service/wording` may put the answer into other words.
"""
