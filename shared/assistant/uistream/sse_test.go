package uistream_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// message is an event as a reader gets it.
type message struct{ event, id, data string }

// parse reads an event stream by the letter of the HTML standard (§9.2.6), which knows three line ends, fields without
// a colon, and a last event without its blank line, which does not count. Comments are answered beside the events.
func parse(stream string) (messages []message, comments []string) {
	stream = strings.TrimPrefix(stream, "\ufeff")
	stream = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(stream)
	var m message
	var data []string
	for line := range strings.SplitSeq(stream, "\n") {
		if line == "" {
			if data != nil {
				m.data = strings.Join(data, "\n")
				messages = append(messages, m)
			}
			m, data = message{id: m.id}, nil
			continue
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "":
			comments = append(comments, value)
		case "data":
			data = append(data, value)
		case "event":
			m.event = value
		case "id":
			m.id = value
		}
	}
	return messages, comments
}

// frames reads a UI message stream: the frames before [DONE], which ends it and comes once.
func frames(t *testing.T, stream string) (all []map[string]any, done bool) {
	t.Helper()
	messages, _ := parse(stream)
	for i, m := range messages {
		if m.event != "" || m.id != "" {
			t.Errorf("a frame with a name: %+v", m)
		}
		if m.data == "[DONE]" {
			if i != len(messages)-1 {
				t.Errorf("%d frames after [DONE]", len(messages)-1-i)
			}
			return all, true
		}
		var frame map[string]any
		if err := json.Unmarshal([]byte(m.data), &frame); err != nil {
			t.Fatalf("%q: %v", m.data, err)
		}
		all = append(all, frame)
	}
	return all, false
}

// TestParse keeps the parser honest.
func TestParse(t *testing.T) {
	t.Parallel()
	messages, comments := parse("\ufeff: hi\n\nevent: a\r\ndata:1\rdata: 2\r\n\r\n:\nid: 7\ndata\n\nevent: x\n\nfoo: y\ndata:  z\n\ndata: lost")
	want := []message{{"a", "", "1\n2"}, {"", "7", ""}, {"", "7", " z"}}
	if diff := cmp.Diff(want, messages, cmp.AllowUnexported(message{})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"hi", ""}, comments); diff != "" {
		t.Error(diff)
	}
}
