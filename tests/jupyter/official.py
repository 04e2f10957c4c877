"""The kernel before Jupyter's own suite, with everything that it can check."""

import unittest

import jupyter_kernel_test


class Official(jupyter_kernel_test.KernelTests):
    kernel_name = "dscript"
    language_name = "dscript"
    file_extension = ".dscript"

    code_hello_world = 'print("hello, world")'
    code_stderr = 'printError("something is wrong")'
    code_page_something = "?sin"
    code_generate_error = "let x: Int = \"text\""
    code_inspect_sample = "tangent"
    code_clear_output = "clearOutput()"

    completion_samples = [
        {"text": "arcLen", "matches": {"arcLength("}},
        {"text": "[1, 2].isEm", "matches": {"isEmpty"}},
        {"text": "zzzz", "matches": set()},
    ]
    complete_code_samples = ["1 + 1", "f(x) = x^2", "func g() { }", 'print("a")', ""]
    incomplete_code_samples = ["func g() {", "let xs = [1,", '"""', "1 +"]
    invalid_code_samples = ["let = 3", "1 + )"]

    code_execute_result = [
        {"code": "1 + 1", "result": "2"},
        {"code": "{ x in x^2 }'(3)", "result": "6.0"},
        {"code": "1 + 1", "result": "2"},
        {"code": "1 + 1", "result": "2"},
    ]
    code_display_data = [
        {"code": "plot({ x in sin(x) }, -3...3)", "mime": "image/svg+xml"},
        {"code": 'display(Picture(text: "a", html: "<b>a</b>"))', "mime": "text/html"},
        {"code": 'display(Picture(text: "a", latex: "$a$"))', "mime": "text/latex"},
        {"code": "newton({ x in x^2 - 2 }, from: 1)", "mime": "text/plain"},
    ]

    code_history_pattern = "1 +*"
    supported_history_operations = ("tail", "range", "search")

    def test_clear_output(self):
        self.flush_channels()
        _, messages = self.execute_helper(self.code_clear_output)
        self.assertEqual([message["msg_type"] for message in messages], ["clear_output"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
