package gateway

import (
	"bytes"
	"errors"
	"testing"
)

// FuzzPrelude checks that the size of chunks does not matter, and that no byte of the body is lost.
func FuzzPrelude(f *testing.F) {
	f.Add([]byte("{\"statusCode\":200}\x00\x00\x00\x00\x00\x00\x00\x00body"), 3)
	f.Add([]byte("{}\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"), 1)
	f.Add([]byte("{\"statusCode\":20}\x00\x00\x00\x00\x00\x00\x00"), 5)
	f.Add(bytes.Repeat([]byte{' '}, maxPrelude+9), 1000)
	f.Fuzz(func(t *testing.T, stream []byte, size int) {
		if size <= 0 {
			size = 1
		}
		var p prelude
		var head, rest []byte
		var done bool
		var err error
		left := stream
		for len(left) > 0 && !done && err == nil {
			n := min(size, len(left))
			head, rest, done, err = p.add(left[:n])
			left = left[n:]
		}
		at := bytes.Index(stream, delimiter)
		if within := at >= 0 && at+len(delimiter) <= maxPrelude; within != done {
			t.Fatalf("delimiter at %d, found %v (%v)", at, done, err)
		}
		if !done {
			if len(stream) >= maxPrelude && !errors.Is(err, errPrelude) {
				t.Fatalf("no error after %d bytes", len(stream))
			}
			return
		}
		if !bytes.Equal(head, stream[:at]) || !bytes.Equal(append(bytes.Clone(rest), left...), stream[at+len(delimiter):]) {
			t.Fatalf("head %q, rest %q, left %q of %q", head, rest, left, stream)
		}
		if a, err := parseMetadata(head); err == nil && (a.status < 200 || a.status > 599) {
			t.Fatalf("status %d", a.status)
		}
	})
}
