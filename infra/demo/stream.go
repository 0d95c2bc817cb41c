package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// watch shows an answer of the assistant while it is made.
func (s *story) watch(ctx context.Context) error {
	const message = "A table of invoices with number, date and total"
	s.screen.say("“%s”, as server-sent events:", message)
	asked := call{method: http.MethodPost, path: "/api/ai/chat/stream", want: http.StatusOK,
		body: object{"projectId": s.project, "message": message, "apply": true}}
	s.screen.request(asked.method, asked.path, "")
	begin := now()
	response, took, err := s.client.open(ctx, asked)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	s.screen.answered(response.StatusCode, took)
	if response.StatusCode != asked.want {
		body, _ := io.ReadAll(response.Body) // what can't be read has nothing to say
		return answer{status: response.StatusCode, body: body}.check(asked)
	}
	view := &streamView{story: s, begin: begin, words: &flow{screen: s.screen}, calls: map[string]*toolCall{}}
	if err := readFrames(response.Body, view.see); err != nil {
		return fmt.Errorf("%s %s: %w", asked.method, asked.path, err)
	}
	if view.result == nil {
		return errors.New("the stream ended without its result")
	}
	s.verdict(*view.result)
	s.screen.fields(field{"frames", number(view.frames)}, field{"first", "after " + milliseconds(view.first)}, field{"first word", "after " + milliseconds(view.firstWord)},
		field{"last", "after " + milliseconds(view.last)})
	return s.allDelivered(ctx)
}

// streamView shows the frames of a stream.
type streamView struct {
	story                  *story
	begin                  time.Time
	words                  *flow
	calls                  map[string]*toolCall
	frames                 int
	first, firstWord, last time.Duration
	result                 *chat
}

// see shows one frame.
func (v *streamView) see(f frame) error {
	v.frames++
	v.last = now().Sub(v.begin)
	if v.frames == 1 {
		v.first = v.last
	}
	if f.Type != "text-delta" {
		v.words.endLine()
	}
	switch f.Type {
	case "text-delta":
		if v.firstWord == 0 {
			v.firstWord = v.last
		}
		v.words.write(f.Delta)
	case "tool-input-start":
		v.calls[f.ToolCallID] = &toolCall{screen: v.story.screen, name: f.ToolName}
	case "tool-input-delta":
		if call := v.calls[f.ToolCallID]; call != nil {
			call.write(f.InputTextDelta)
		}
	case "tool-input-available", "tool-input-error":
		if call := v.calls[f.ToolCallID]; call != nil {
			call.end()
		}
		if f.ErrorText != "" {
			v.story.screen.remark("not applied: %s", f.ErrorText)
		}
	case "data-action":
		return v.checked(f)
	case "data-result":
		v.result = &chat{}
		if err := json.Unmarshal(f.Data, v.result); err != nil {
			return fmt.Errorf("data-result: %w", err)
		}
	case "error":
		return fmt.Errorf("the assistant: %s", f.ErrorText)
	}
	return nil
}

// checked shows an action that the platform has held against the project.
func (v *streamView) checked(f frame) error {
	var a action
	if err := json.Unmarshal(f.Data, &a); err != nil {
		return fmt.Errorf("data-action: %w", err)
	}
	v.story.action(a)
	return nil
}

// toolCall is a call of a tool while its input comes.
type toolCall struct {
	screen *screen
	name   string
	input  string
	named  bool // the heading has been written
	shown  int  // lines of the content that have been looked at
}

// excerpt is how many lines of a file are shown.
const excerpt = 7

// write takes the next piece of the input; lines of a file's content are shown when they have come whole.
func (t *toolCall) write(piece string) {
	t.input += piece
	content := member(t.input, "content")
	if content == "" {
		return
	}
	t.heading()
	lines := strings.Split(content, "\n")
	for ; t.shown < len(lines)-1; t.shown++ {
		if t.shown < excerpt {
			t.screen.code(lines[t.shown])
		}
	}
	if t.shown > excerpt {
		t.screen.status(fmt.Sprintf("%s… %d more lines", bar, t.shown-excerpt))
	}
}

// heading writes which tool is called for which file.
func (t *toolCall) heading() {
	if !t.named {
		t.named = true
		t.screen.line(indent + t.screen.paint(cyan, t.name) + " " + elide(clean(member(t.input, "path")), t.screen.width-len(indent)-1-length(t.name)))
	}
}

// end says how much has not been shown.
func (t *toolCall) end() {
	t.screen.status("")
	t.heading()
	if t.shown > excerpt {
		t.screen.line(t.screen.paint(dim, fmt.Sprintf("%s… %d more lines", bar, t.shown-excerpt)))
	}
}

// code writes a line of a file.
func (s *screen) code(line string) {
	line = clean(strings.ReplaceAll(line, "\t", "  "))
	s.line(s.paint(dim, strings.TrimRight(bar+cut(line, s.width-length(bar)), " ")))
}
