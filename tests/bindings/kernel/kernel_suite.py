# kernel_suite.py -- the Jupyter kernel as clients see it: the suite of jupyter_kernel_test, and what that does not ask.
# Usage: kernel_suite.py, with JUPYTER_PATH leading to the kernel that `penumbra kernel --install` made known.
# Depends on: jupyter_kernel_test, jupyter_client.  Used by: kernel_spec.lua.
import json
import os
import re
import tempfile
import unittest

import jupyter_kernel_test as suite
from jupyter_client.manager import KernelManager
from jupyter_client.session import Session

PATIENCE = 60  # seconds; a guard against hanging, not a measure


class Conformance(suite.KernelTests):
    kernel_name = "penumbra"
    language_name = "lua"
    file_extension = ".lua"
    code_hello_world = "print 'hello, world'"
    code_stderr = "io.stderr:write 'oops\\n'"
    completion_samples = [{"text": "pn.solve.fra", "matches": {"frank_wolfe", "frank_wolfe_convex"}}]
    complete_code_samples = ["1", "print 'hello'", "for i = 1, 2 do print(i) end", "%time 1", "?pn.solve.sgd"]
    incomplete_code_samples = ["for i = 1, 2 do", "x = {1,", "print 'a' .."]
    invalid_code_samples = ["x = = 2", "end"]
    code_generate_error = "error 'no'"
    code_execute_result = [
        {"code": "6 * 7", "result": "42"}, {"code": "6 * 70", "result": "420"}, {"code": "6 * 700", "result": "4200"},
        {"code": "'text'", "result": '"text"'}, {"code": "pn.vec{1, 2}", "result": "vec(2): 1 2"},
    ]
    code_display_data = [{"code": "pn.plot.line{y = {1, 3, 2}}", "mime": "image/svg+xml"}]
    code_history_pattern = "6 * 7*"
    supported_history_operations = ("tail", "range", "search")
    code_inspect_sample = "pn.solve.sgd"

    # The suite asks for one match of a pattern that has three where they are told apart: here for all of them.
    def test_history(self):
        for entry in ("6 * 7", "6 * 70", "6 * 7"):
            self.execute_helper(code=entry)
        found = {}
        for unique in (False, True):
            self.flush_channels()
            self.kc.history(hist_access_type="search", pattern="6 * 7*", unique=unique, n=3)
            found[unique] = [row[2] for row in self.kc.get_shell_msg(timeout=PATIENCE)["content"]["history"]]
        self.assertEqual(found[False][-3:], ["6 * 7", "6 * 70", "6 * 7"])
        self.assertEqual(found[True][-2:], ["6 * 70", "6 * 7"])
        self.assertEqual(len(set(found[True])), len(found[True]))
        self.kc.history(hist_access_type="tail", n=2)
        tail = self.kc.get_shell_msg(timeout=PATIENCE)["content"]["history"]
        self.assertEqual([row[2] for row in tail], ["6 * 70", "6 * 7"])
        self.kc.history(hist_access_type="range", start=tail[0][1], stop=tail[0][1] + 1)
        self.assertEqual(self.kc.get_shell_msg(timeout=PATIENCE)["content"]["history"], tail[:1])


class Kernel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.manager = KernelManager(kernel_name="penumbra")
        cls.manager.start_kernel()
        cls.client = cls.manager.client()
        cls.client.start_channels()
        cls.client.wait_for_ready(timeout=PATIENCE)

    @classmethod
    def tearDownClass(cls):
        cls.client.stop_channels()
        cls.manager.shutdown_kernel()

    # The reply, and what was published meanwhile as (type, content).
    def run_cell(self, code, seen=lambda kind, content: None, **options):
        published = []

        def hook(message):
            published.append((message["msg_type"], message["content"]))
            seen(*published[-1])

        reply = self.client.execute_interactive(code, output_hook=hook, timeout=PATIENCE, stop_on_error=False, **options)
        return reply["content"], published

    @staticmethod
    def of_kind(published, kind):
        return [content for name, content in published if name == kind]

    def text_of(self, published, stream="stdout"):
        return "".join(part["text"] for part in self.of_kind(published, "stream") if part["name"] == stream)

    def test_prints_in_order_and_after_its_input(self):
        _, published = self.run_cell("print 'a' io.stderr:write 'b\\n' print 'c' return 'd'")
        kinds = [name for name, _ in published]
        self.assertEqual(kinds[:2], ["status", "execute_input"])
        self.assertEqual(kinds[-2:], ["execute_result", "status"])
        self.assertEqual(self.text_of(published), "a\nc\n")
        self.assertEqual(self.text_of(published, "stderr"), "b\n")

    def test_shows_what_children_print(self):
        _, published = self.run_cell("os.execute 'echo child'")
        self.assertEqual(self.text_of(published), "child\n")

    def test_large_output_arrives_whole(self):
        _, published = self.run_cell("for i = 1, 40 do io.write(('é'):rep(50000)) end")
        self.assertEqual(self.text_of(published), "é" * 2000000)

    def test_bytes_that_are_no_text_are_marked(self):
        _, published = self.run_cell("io.write('a\\xffb\\xc3') return 'x\\xff'")
        self.assertEqual(self.text_of(published), "a\ufffdb\ufffd")

    def test_results_are_numbered_as_their_cells(self):
        reply, _ = self.run_cell("11 * 11")
        _, published = self.run_cell("_%d + 1" % reply["execution_count"])
        self.assertEqual(self.of_kind(published, "execute_result")[0]["data"]["text/plain"], "122")

    def test_pictures_stand_within_a_page(self):
        _, published = self.run_cell("pn.plot.line{y = {1, 3, 2}}")
        picture = self.of_kind(published, "display_data")[0]["data"]["image/svg+xml"]
        self.assertTrue(picture.startswith("<svg"), picture[:80])  # no declaration of XML, which nbconvert refuses

    def test_errors_mark_the_place(self):
        reply, published = self.run_cell("x = 1\ny = x.b.c")
        self.assertEqual(reply["status"], "error")
        error = self.of_kind(published, "error")[0]
        self.assertIn("attempt to index", error["evalue"])
        self.assertIn("y = x.b.c", "\n".join(error["traceback"]).replace("\x1b[90m", "").replace("\x1b[0m", ""))

    def test_silent_cells_publish_nothing(self):
        before, _ = self.run_cell("1")
        _, published = self.run_cell("quiet = 5 return 6", silent=True)
        self.assertEqual([name for name, _ in published], ["status", "status"])
        after, _ = self.run_cell("quiet")
        self.assertEqual(after["execution_count"], before["execution_count"] + 1)

    def test_expressions_of_the_user(self):
        reply, _ = self.run_cell("z = 4", user_expressions={"good": "z * z", "bad": "nosuch.field"})
        self.assertEqual(reply["user_expressions"]["good"]["data"]["text/plain"], "16")
        self.assertEqual(reply["user_expressions"]["bad"]["status"], "error")

    def test_plans_and_fits_are_tables(self):
        _, published = self.run_cell(
            "d = pn.data.synthetic.logistic{n=500, p=5, seed=1}\n"
            "obj = pn.objective{data=d, loss=pn.loss.logistic(), set=pn.set.l2_ball{dim=5, radius=1}}\n"
            "pn.solve.gradient_descent.plan(obj, {epsilon=1, delta=1e-6})")
        data = self.of_kind(published, "execute_result")[0]["data"]
        self.assertIn("plan: gradient_descent", data["text/plain"])
        self.assertIn("<th style=\"text-align:left\">steps T</th>", data["text/html"])
        rows = data["text/html"].count("<tr>")
        labels = [line for line in data["text/plain"].split("\n")[1:] if line[2:3].strip()]
        self.assertEqual(rows, len(labels))

    def test_markup_in_values_is_escaped(self):
        _, published = self.run_cell("t = {} for i = 1, 3 do t[i] = {name = '<b>' .. i, y = i} end return t")
        html = self.of_kind(published, "execute_result")[0]["data"]["text/html"]
        self.assertNotIn("<b>1", html)
        self.assertIn("&lt;b&gt;1", html)

    def test_an_interrupt_keeps_the_fit_and_says_what_was_paid(self):
        self.run_cell(
            "d = pn.data.synthetic.logistic{n=200000, p=50, seed=1}:clip_rows('l2', 1)\n"
            "obj = pn.objective{data=d, loss=pn.loss.logistic(), set=pn.set.l2_ball{dim=50, radius=1}}")
        bars = []

        def seen(kind, content):
            if kind in ("display_data", "update_display_data"):
                bars.append((kind, content["transient"]["display_id"], content["data"]["text/plain"]))
                if len(bars) == 1:
                    self.manager.interrupt_kernel()

        reply, published = self.run_cell(
            "pn.solve.gradient_descent(obj, {epsilon=1, delta=1e-6, iterations=200000})", seen)
        self.assertEqual(reply["status"], "ok")
        self.assertIn("interrupt", self.text_of(published, "stderr"))
        shown = self.of_kind(published, "execute_result")[0]["data"]["text/plain"]
        self.assertRegex(shown, r"fit: gradient_descent, \d+ of 200000 steps")
        self.assertIn("epsilon = 1, delta = 1e-06", shown)
        paid = re.search(r"paid +epsilon = ([0-9.e-]+), delta = 1e-06: the price of \d+ step", shown)
        self.assertLess(float(paid.group(1)), 1)
        self.assertEqual(bars[0][0], "display_data")  # one line, changed in place, and taken away
        self.assertTrue(all(kind == "update_display_data" and where == bars[0][1] for kind, where, _ in bars[1:]))
        self.assertEqual(bars[-1][2], "")

    def test_an_interrupt_stops_lua(self):
        def seen(kind, content):
            if kind == "stream":
                self.manager.interrupt_kernel()

        reply, _ = self.run_cell("print 'go' while true do end", seen)
        self.assertEqual((reply["status"], reply["ename"]), ("error", "Interrupted"))
        self.assertEqual(self.run_cell("1")[0]["status"], "ok")

    def test_an_interrupt_between_cells_is_nothing(self):
        self.manager.interrupt_kernel()
        self.assertEqual(self.run_cell("2")[0]["status"], "ok")

    def test_cells_behind_one_that_failed_are_left_out(self):
        # The first cell fails once the others are sent, however long that takes.
        with tempfile.TemporaryDirectory() as folder:
            sent = os.path.join(folder, "sent")
            first = f"while not io.open '{sent}' do end error 'first'"
            names = [self.client.execute(code) for code in (first, "left_out = 1", "left_out = 2")]
            with open(sent, "w"):
                pass
            replies = {}
            while len(replies) < 3:
                message = self.client.get_shell_msg(timeout=PATIENCE)
                replies[message["parent_header"]["msg_id"]] = message["content"]["status"]
        self.assertEqual([replies[name] for name in names], ["error", "aborted", "aborted"])
        _, published = self.run_cell("left_out == nil")
        self.assertEqual(self.of_kind(published, "execute_result")[0]["data"]["text/plain"], "true")

    def test_requests_with_a_wrong_signature_are_dropped(self):
        right = self.client.session
        wrong = Session(key=b"another key", signature_scheme=right.signature_scheme)
        for message in ("execute_request", "kernel_info_request"):
            wrong.send(self.client.shell_channel.socket, message,
                       {"code": "forged = true", "silent": False, "store_history": True, "user_expressions": {},
                        "allow_stdin": False, "stop_on_error": True})
        _, published = self.run_cell("forged")
        self.assertEqual(self.of_kind(published, "display_data")[0]["data"]["text/plain"], "nil")

    def test_nonsense_does_not_end_it(self):
        socket = self.client.shell_channel.socket
        socket.send_multipart([b"no delimiter"])
        socket.send_multipart([b"<IDS|MSG>"])
        socket.send_multipart([b"x"] * 40 + [b"<IDS|MSG>", b"", b"{}", b"{}", b"{}", b"{}"])
        session = self.client.session
        for parts in ([b"{", b"{}", b"{}", b"{}"], [b"[]", b"{}", b"{}", b"7"], [b'{"msg_type":7}', b"{}", b"{}", b"{}"],
                      [json.dumps({"msg_type": "no_such_request"}).encode(), b"{}", b"{}", b"{}"],
                      [json.dumps({"msg_type": "execute_request"}).encode(), b"{}", b"{}", b'{"code": 7}'],
                      [json.dumps({"msg_type": "complete_request"}).encode(), b"{}", b"{}", b'{"code": "\\u00e9", "cursor_pos": 99}']):
            socket.send_multipart([b"<IDS|MSG>", session.sign(parts)] + parts)
        self.assertEqual(self.run_cell("3")[0]["status"], "ok")

    def test_completes_behind_other_letters(self):
        self.client.complete("x = 'é' y = pn.solve.fra", 24)
        content = self.client.get_shell_msg(timeout=PATIENCE)["content"]
        self.assertEqual((content["cursor_start"], content["cursor_end"]), (21, 24))
        self.assertEqual(content["matches"], ["frank_wolfe", "frank_wolfe_convex"])

    def test_exit_is_refused_with_a_reason(self):
        reply, _ = self.run_cell("exit()")
        self.assertIn("menu", reply["evalue"])


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    unittest.main(verbosity=2)
