package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// A delivery that comes while a request is under way, or a line counts down, breaks neither.
func TestLinesStayWhole(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := newScreen(&out, false)
	s.request("POST", "/api/webhooks/wh_01M80ZYRDTGJPWYYPGYQYBQEXK/test", "")
	s.line("a delivery")
	s.status("never seen where nothing moves")
	s.answered(200, 12*time.Millisecond)
	s.begin("cut off", 7)
	s.end()
	want := "  POST /api/webhooks/wh_…YBQEXK/test                            200        12 ms\na delivery\ncut off\n"
	if out.String() != want {
		t.Errorf("%q\nwant %q", out.String(), want)
	}
	if first, _, _ := strings.Cut(out.String(), "\n"); length(first) != pageWidth {
		t.Errorf("a request's line has %d columns", length(first))
	}
}

// On a terminal the line that counts down is taken away for others, and comes back below them.
func TestTheWaitingLineStaysLast(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := &screen{out: &out, width: 20, moves: true, coloured: true}
	s.status("waiting for a very long time")
	s.line("a delivery")
	s.status("")
	s.status("")
	const waiting = "\r\x1b[K\x1b[2mwaitin…ry long time\x1b[0m"
	if want := waiting + "\r\x1b[K" + "a delivery\n" + waiting + "\r\x1b[K"; out.String() != want {
		t.Errorf("%q\nwant %q", out.String(), want)
	}
}

func TestStatusesHaveTheColourOfTheirClass(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]style{201: green, 304: cyan, 412: yellow, 503: red, 0: red} {
		if got := class(status); got != want {
			t.Errorf("%d: %q, want %q", status, got, want)
		}
	}
}

// Words appear as soon as they are whole, and lines break between them, however the text was cut into pieces.
func TestWordsFlowAsTheyCome(t *testing.T) {
	t.Parallel()
	const text = "Render `<ContactForm />`, imported from there.\n\n\nThen install it.\n"
	const want = "    │ Render\n    │ `<ContactForm\n    │ />`, imported\n    │ from there.\n    │\n    │ Then install\n    │ it.\n"
	for _, size := range []int{1, 3, 7, len(text)} {
		var out bytes.Buffer
		f := &flow{screen: &screen{out: &out, width: 20}}
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			f.write(rest[:n])
			rest = rest[n:]
			if n == 7 && len(rest) == len(text)-7 && !strings.HasSuffix(out.String(), "│ Render") {
				t.Errorf("after the first word: %q", out.String())
			}
		}
		f.endLine()
		if out.String() != want {
			t.Errorf("in pieces of %d:\n%s\nwant\n%s", size, out.String(), want)
		}
	}
}

func TestDifferences(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := &story{screen: &screen{out: &out, width: 50}}
	s.difference(
		[]file{{Path: "/gone", Size: 1}, {Path: "/new", Size: 2000, Version: "1"}, {Path: "/same", Version: "1"}},
		[]file{{Path: "/come", Size: 3}, {Path: "/new", Size: 4, Version: "2"}, {Path: "/same", Version: "1"}})
	want := "    + /come                                3 bytes\n" +
		"    ~ /new                         2,000 → 4 bytes\n" +
		"    - /gone                                1 bytes\n"
	if out.String() != want {
		t.Errorf("\n%s\nwant\n%s", out.String(), want)
	}
}
