"""Tests beyond the official suite: interrupts, input requests, updated pictures, malformed messages, restarts."""

import json
import os
import signal
import time
import unittest
from queue import Empty

from jupyter_client.manager import start_new_kernel

LOOP = "var i = 0\nwhile true { i += 1 }"
SWEEP = """
func long(_ x: Double) -> Double {
    var y = x
    for _ in 0..<50_000_000 { y = sin(y) }
    return y
}
print(gradient(at: 0.5, in: long))
"""
MOST = 20


class Behaviour(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.km, cls.kc = start_new_kernel(kernel_name="dscript")

    @classmethod
    def tearDownClass(cls):
        cls.kc.stop_channels()
        cls.km.shutdown_kernel()

    def messages(self, msg_id, timeout=MOST):
        """Returns the IOPub messages of a request, up to its end."""
        found = []
        while True:
            message = self.kc.get_iopub_msg(timeout=timeout)
            if message["parent_header"].get("msg_id") != msg_id:
                continue
            if message["msg_type"] == "status":
                if message["content"]["execution_state"] == "idle":
                    return found
                continue
            if message["msg_type"] != "execute_input":
                found.append(message)

    def reply(self, msg_id, timeout=MOST):
        while True:
            message = self.kc.get_shell_msg(timeout=timeout)
            if message["parent_header"].get("msg_id") == msg_id:
                return message["content"]

    def run_cell(self, code, **how):
        msg_id = self.kc.execute(code, **how)
        reply = self.reply(msg_id)
        return reply, self.messages(msg_id)

    def streams(self, messages, name="stdout"):
        return "".join(m["content"]["text"] for m in messages if m["msg_type"] == "stream" and m["content"]["name"] == name)

    def interrupted(self, code, how):
        msg_id = self.kc.execute(code)
        time.sleep(0.7)
        begin = time.monotonic()
        how()
        reply = self.reply(msg_id)
        took = time.monotonic() - begin
        self.messages(msg_id)
        self.assertEqual(reply["status"], "error", reply)
        self.assertIn("interrupted", reply["evalue"])
        # 50 ms on an idle machine.
        self.assertLess(took, 2.0)

    def test_cells_keep_one_session(self):
        self.run_cell("let base = 20")
        reply, messages = self.run_cell("func twice(_ x: Int) -> Int { 2 * x }\ntwice(base) + 2")
        self.assertEqual(messages[-1]["content"]["data"]["text/plain"], "42")
        self.assertEqual(messages[-1]["content"]["execution_count"], reply["execution_count"])

    def test_directives_of_other_kernels_have_no_effect(self):
        _, messages = self.run_cell("#@title Setup\n%install '.package' Models\n6 * 7")
        self.assertEqual(messages[-1]["content"]["data"]["text/plain"], "42")
        self.assertIn("'%install' has no effect", self.streams(messages, "stderr"))

    def test_an_error_names_its_cell_and_keeps_what_was_before(self):
        self.run_cell("let kept = 7")
        reply, _ = self.run_cell("let other = kept + nowhere")
        self.assertEqual(reply["ename"], "E0202")
        self.assertIn("cell %d" % reply["execution_count"], "\n".join(reply["traceback"]))
        _, messages = self.run_cell("kept")
        self.assertEqual(messages[-1]["content"]["data"]["text/plain"], "7")

    def test_a_failure_while_running_names_its_line(self):
        reply, messages = self.run_cell("let xs = [1, 2]\nprint(xs.count)\nprint(xs[5])")
        self.assertEqual(reply["ename"], "E0601")
        self.assertEqual(self.streams(messages), "2\n")

    def test_interrupt_by_message(self):
        self.interrupted(LOOP, self.km.interrupt_kernel)
        _, messages = self.run_cell("1 + 1")
        self.assertEqual(messages[-1]["content"]["data"]["text/plain"], "2")

    def test_interrupt_by_signal(self):
        pid = self.km.provisioner.process.pid
        self.interrupted(LOOP, lambda: os.kill(pid, signal.SIGINT))

    def test_interrupt_of_a_sweep(self):
        self.interrupted(SWEEP, self.km.interrupt_kernel)

    def test_interrupt_of_the_compiler(self):
        self.interrupted("\n".join(f"let a{n} = [{n}.5, max({n}, 1)]" for n in range(60_000)), self.km.interrupt_kernel)
        reply, _ = self.run_cell("a1")
        self.assertEqual(reply["ename"], "E0202")

    def test_cells_behind_a_failure_are_not_run(self):
        first = self.kc.execute(LOOP)
        second = self.kc.execute("print(1)")
        time.sleep(0.7)
        self.km.interrupt_kernel()
        self.assertEqual(self.reply(first)["status"], "error")
        self.assertEqual(self.reply(second)["status"], "aborted")
        self.messages(second)

    def test_questions(self):
        code = 'print("name?", terminator: " ")\nlet name = readLine() ?? "nobody"\nprint("hello \\(name)")'
        msg_id = self.kc.execute(code, allow_stdin=True)
        question = self.kc.get_stdin_msg(timeout=MOST)
        self.assertEqual(question["msg_type"], "input_request")
        self.kc.input("Ada")
        self.assertEqual(self.reply(msg_id)["status"], "ok")
        self.assertEqual(self.streams(self.messages(msg_id)), "name? hello Ada\n")

    def test_a_question_that_nobody_answers(self):
        reply, _ = self.run_cell("readLine()", allow_stdin=False)
        self.assertEqual(reply["status"], "error")
        self.assertIn("does not support input", reply["evalue"])

    def test_prints_are_joined(self):
        _, messages = self.run_cell('for i in 0..<1000 { print("line", i) }')
        self.assertLess(len(messages), 100)
        self.assertEqual(self.streams(messages), "".join("line %d\n" % i for i in range(1000)))

    def test_prints_are_seen_while_the_cell_runs(self):
        msg_id = self.kc.execute('print("begun")\n' + LOOP)
        while True:
            message = self.kc.get_iopub_msg(timeout=MOST)
            if message["msg_type"] == "stream":
                self.assertEqual(message["content"]["text"], "begun\n")
                break
        self.km.interrupt_kernel()
        self.reply(msg_id)
        self.messages(msg_id)

    def test_order_of_streams_and_pictures(self):
        _, messages = self.run_cell('print("a")\nplot({ x in x }, 0...1)\nprintError("b")\nprint("c")')
        kinds = [m["content"].get("name", m["msg_type"]) for m in messages]
        self.assertEqual(kinds, ["stdout", "display_data", "stderr", "stdout"])

    def test_commands_show_their_richest_form(self):
        self.run_cell("h(x) = x * sin(x) / 2")
        for command, media in [
            (":plot h from -3 to 3", "image/svg+xml"),
            (":plot sin", "image/svg+xml"),
            (":table h from 0 to 1", "text/html"),
            (":explain h at 2", "text/latex"),
            (":explain h at 2", "text/html"),
            (":tape h at 2", "text/html"),
            (":graph h at 2", "image/svg+xml"),
            (":derive h", "text/latex"),
            (":derive h tex", "text/latex"),
        ]:
            reply, messages = self.run_cell(command)
            self.assertEqual(reply["status"], "ok", command)
            self.assertEqual([m["msg_type"] for m in messages], ["display_data"], command)
            self.assertIn(media, messages[0]["content"]["data"], command)
        self.assertIn(r"\frac", messages[0]["content"]["data"]["text/latex"])

    def test_matrices_are_tables(self):
        _, messages = self.run_cell("[[1.0, 2.0], [3.0, 4.0]]")
        self.assertIn("<td>3.0</td>", messages[0]["content"]["data"]["text/html"])
        _, messages = self.run_cell("[1.0, 2.0]")
        self.assertEqual(list(messages[0]["content"]["data"]), ["text/plain"])

    def test_pictures_that_change(self):
        code = 'display(Picture(text: "0 %"), id: "p")\nupdateDisplay(Picture(text: "9 %"), id: "p")'
        _, messages = self.run_cell(code)
        self.assertEqual([m["msg_type"] for m in messages], ["display_data", "update_display_data"])
        self.assertEqual([m["content"]["transient"]["display_id"] for m in messages], ["p", "p"])
        self.assertEqual(messages[1]["content"]["data"], {"text/plain": "9 %"})

    def test_a_loop_shows_how_far_it_is(self):
        code = 'var sum = 0.0\nfor i in progress(0..<300_000, "adding") { sum += sin(Double(i)) }'
        _, messages = self.run_cell(code)
        kinds = [m["msg_type"] for m in messages]
        self.assertEqual(kinds[0], "display_data")
        self.assertEqual(set(kinds[1:]), {"update_display_data"})
        self.assertEqual(len({m["content"]["transient"]["display_id"] for m in messages}), 1)
        self.assertEqual(messages[-1]["content"]["data"]["text/plain"], "adding done")

    def test_commands(self):
        self.run_cell("f(x) = x * sin(x)")
        _, messages = self.run_cell(":explain f at 2")
        self.assertIn("cos", messages[0]["content"]["data"]["text/plain"])
        reply, _ = self.run_cell(":nonsense")
        self.assertEqual(reply["status"], "error")

    def test_silent_cells_say_nothing(self):
        msg_id = self.kc.execute("print(1)\n2", silent=True)
        before = self.reply(msg_id)["execution_count"]
        self.assertEqual(self.messages(msg_id), [])
        reply, _ = self.run_cell("1")
        self.assertEqual(reply["execution_count"], before + 1)

    def test_user_expressions(self):
        reply, _ = self.run_cell("let a = 4", user_expressions={"root": "sqrt(4.0)", "wrong": "nowhere"})
        values = reply["user_expressions"]
        self.assertEqual(values["root"]["data"]["text/plain"], "2.0")
        self.assertEqual(values["wrong"]["status"], "error")

    def test_cursors_count_characters(self):
        msg_id = self.kc.complete("let 𝜶𝜷 = 1; arcLen", 18)
        reply = self.reply(msg_id)
        self.assertEqual((reply["matches"], reply["cursor_start"], reply["cursor_end"]), (["arcLength("], 12, 18))
        self.assertEqual(self.reply(self.kc.complete("\\alp", 4))["matches"], ["α"])

    def test_calls_are_helped_with(self):
        above = "func walk(_ a: Double, by step: Double) -> Double { a + step }\nlet speed = 2.0\n"
        code = above + "walk(spe"
        self.assertEqual(self.reply(self.kc.complete(code, len(code)))["matches"], ["speed"])
        code = above + "walk(1, "
        self.assertEqual(self.reply(self.kc.complete(code, len(code)))["matches"], ["by:"])
        reply = self.reply(self.kc.inspect(code, len(code)))
        self.assertTrue(reply["found"])
        self.assertIn("walk(a, by: Double) -> Double", reply["data"]["text/plain"])

    def test_bad_messages_are_refused(self):
        session, channel = self.kc.session, self.kc.shell_channel
        good = session.msg("kernel_info_request", content={})
        frames = session.serialize(good)
        wrong = list(frames)
        wrong[1] = b"0" * 64
        channel.socket.send_multipart(wrong)
        channel.socket.send_multipart([b"<IDS|MSG>"])
        channel.socket.send_multipart([b"nothing", b"at", b"all"])
        body = [b"{", b"{}", b"{}", b"{}"]
        channel.socket.send_multipart([b"<IDS|MSG>", session.sign(body), *body])
        unknown = session.msg("make_coffee_request", content={})
        channel.send(unknown)
        reply = self.reply(unknown["header"]["msg_id"])
        self.assertEqual((reply["status"], reply["ename"]), ("error", "UnknownRequest"))
        self.messages(unknown["header"]["msg_id"])
        reply, messages = self.run_cell("1 + 1")
        self.assertEqual(reply["status"], "ok", reply)
        self.assertEqual(messages[-1]["content"]["data"]["text/plain"], "2")

    def test_much_code(self):
        reply, _ = self.run_cell("let xs = [" + "1, " * 20_000 + "1]\nprint(xs.count)")
        self.assertEqual(reply["status"], "ok", reply)
        reply, _ = self.run_cell("(" * 10_000_000)
        self.assertEqual((reply["status"], reply["ename"][:2]), ("error", "E0"))
        self.assertTrue(reply["evalue"])
        _, messages = self.run_cell("1 + 1")
        self.assertEqual(messages[-1]["content"]["data"]["text/plain"], "2")

    def test_comms(self):
        content = {"comm_id": "c1", "target_name": "nobody", "data": {}}
        message = self.kc.session.msg("comm_open", content=content)
        self.kc.shell_channel.send(message)
        answers = self.messages(message["header"]["msg_id"])
        self.assertEqual([m["msg_type"] for m in answers], ["comm_close"])
        reply = self.reply(self.kc.comm_info())
        self.assertEqual(reply["comms"], {})

    def test_control_answers_while_a_cell_runs(self):
        msg_id = self.kc.execute(LOOP)
        time.sleep(0.3)
        message = self.kc.session.msg("kernel_info_request", content={})
        self.kc.control_channel.send(message)
        reply = self.kc.get_control_msg(timeout=MOST)
        self.assertEqual(reply["content"]["implementation"], "dscript")
        self.assertTrue(self.kc.hb_channel.is_beating())
        self.km.interrupt_kernel()
        self.reply(msg_id)
        self.messages(msg_id)


class Ends(unittest.TestCase):
    def test_shutdown_and_restart(self):
        km, kc = start_new_kernel(kernel_name="dscript")
        try:
            kc.execute_interactive("let a = 1", timeout=MOST)
            km.restart_kernel(now=False)
            kc.wait_for_ready(timeout=MOST)
            reply = kc.execute_interactive("a", timeout=MOST)
            self.assertEqual(reply["content"]["ename"], "E0202")
            process = km.provisioner.process
            begin = time.monotonic()
            km.shutdown_kernel(now=False)
            self.assertIsNotNone(process.wait(timeout=MOST))
            self.assertLess(time.monotonic() - begin, 5)
        finally:
            kc.stop_channels()

    def test_a_busy_kernel_ends(self):
        km, kc = start_new_kernel(kernel_name="dscript")
        kc.execute(LOOP)
        time.sleep(0.3)
        process = km.provisioner.process
        km.shutdown_kernel(now=False)
        self.assertIsNotNone(process.wait(timeout=MOST))
        kc.stop_channels()


if __name__ == "__main__":
    unittest.main(verbosity=2)
