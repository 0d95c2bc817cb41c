package uistream_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
)

// message is a parsed event.
type message struct{ event, id, data string }

// parse parses an event stream as the HTML standard (§9.2.6) requires: with three kinds of line endings, and with
// fields without a colon. It ignores the last event if no blank line follows it. It also returns the comments.
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

// frames returns the frames of a UI message stream before [DONE]. It fails if anything follows [DONE].
func frames(t *testing.T, stream string) (all []map[string]any, done bool) {
	t.Helper()
	messages, _ := parse(stream)
	for i, m := range messages {
		if m.event != "" || m.id != "" {
			t.Errorf("the frame %+v has an event name or an ID", m)
		}
		if m.data == "[DONE]" {
			if i != len(messages)-1 {
				t.Errorf("got %d frames after [DONE], want none", len(messages)-1-i)
			}
			return all, true
		}
		var frame map[string]any
		if err := json.Unmarshal([]byte(m.data), &frame); err != nil {
			t.Fatalf("the frame %q is not valid JSON: %v", m.data, err)
		}
		all = append(all, frame)
	}
	return all, false
}

// TestParse checks the parser that the other tests use.
func TestParse(t *testing.T) {
	t.Parallel()
	messages, comments := parse("\ufeff: hi\n\n" +
		"event: a\r\ndata:1\rdata: 2\r\n\r\n" +
		":\nid: 7\ndata\n\n" +
		"event: x\n\n" +
		"foo: y\ndata:  z\n\n" +
		"data: no blank line after this event")
	want := []message{
		{event: "a", data: "1\n2"},
		{id: "7", data: ""},
		{id: "7", data: " z"},
	}
	if diff := cmp.Diff(want, messages, cmp.AllowUnexported(message{})); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"hi", ""}, comments); diff != "" {
		t.Errorf("comments (-want +got):\n%s", diff)
	}
}
