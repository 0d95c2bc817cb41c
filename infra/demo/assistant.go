package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// chat is an answer of the assistant.
type chat struct {
	Response string
	Actions  []action
	Model    string
	Usage    struct{ InputTokens, OutputTokens int }
	Applied  bool
}

// action is a change that the assistant makes.
type action struct {
	Type, Path, To, Content string
	Packages                []string
}

// ask lets the assistant fill the project, after its files are deleted. The deliveries show the changes.
func (s *story) ask(ctx context.Context) error {
	s.screen.say("Without a language model, the assistant fills only an empty project. A batch deletes the files.")
	var deletions []object
	for _, path := range []string{manifestPath, appPath, oldPath} {
		deletions = append(deletions, object{"op": "delete", "path": path})
	}
	if err := s.post(ctx, s.files()+"/batch", object{"operations": deletions}, nil); err != nil {
		return err
	}
	if err := s.allDelivered(ctx); err != nil {
		return err
	}
	const message = "Create a dashboard."
	s.screen.say("“%s”", message)
	var answer chat
	body := object{"projectId": s.project, "message": message, "apply": true}
	if err := s.post(ctx, "/api/ai/chat", body, &answer); err != nil {
		return err
	}
	s.screen.wrap(bar, answer.Response)
	for _, action := range answer.Actions {
		s.action(action)
	}
	s.verdict(answer)
	return s.allDelivered(ctx)
}

// verdict shows the model, its tokens, and whether the actions were applied.
func (s *story) verdict(answer chat) {
	tokens := fmt.Sprintf("%d in, %d out", answer.Usage.InputTokens, answer.Usage.OutputTokens)
	s.screen.fields("model", answer.Model, "tokens", tokens, "applied", fmt.Sprint(answer.Applied))
}

// action shows an action.
func (s *story) action(a action) {
	mark, path, detail := "~", a.Path, a.Type
	switch a.Type {
	case "create_file":
		mark, detail = "+", fmt.Sprint(a.Type, ", ", len(a.Content), " bytes")
	case "update_file":
		detail = fmt.Sprint(a.Type, ", ", len(a.Content), " bytes")
	case "delete_file":
		mark = "-"
	case "rename_file":
		path += " → " + a.To
	case "add_dependency":
		detail += " " + strings.Join(a.Packages, " ")
	}
	s.screen.mark(mark, path, clean(detail))
}

// frame is an event of a UI message stream.
type frame struct {
	Type      string          `json:"type"`
	Delta     string          `json:"delta"`
	ErrorText string          `json:"errorText"`
	Data      json.RawMessage `json:"data"`
}

// watch shows an answer of the assistant while it is generated.
func (s *story) watch(ctx context.Context) error {
	const message = "Add a table of invoices with number, date and total."
	s.screen.say("“%s”, as server-sent events:", message)
	begin := time.Now()
	response, err := s.client.open(ctx, call{method: http.MethodPost, path: "/api/ai/chat/stream",
		body: object{"projectId": s.project, "message": message, "apply": true}})
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	view := streamView{story: s}
	var first time.Duration
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		data, found := strings.CutPrefix(lines.Text(), "data: ")
		if !found || data == "[DONE]" {
			continue
		}
		if view.frames++; view.frames == 1 {
			first = time.Since(begin)
		}
		var f frame
		if err := json.Unmarshal([]byte(data), &f); err != nil {
			return fmt.Errorf("an event of the stream is not valid JSON: %w", err)
		}
		if err := view.show(f); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("the stream: %w", err)
	}
	if view.result == nil {
		return errors.New("the stream ended without its result")
	}
	s.verdict(*view.result)
	s.screen.fields("frames", fmt.Sprint(view.frames), "first", "after "+milliseconds(first),
		"last", "after "+milliseconds(time.Since(begin)))
	return s.allDelivered(ctx)
}

// streamView shows the frames of a stream.
type streamView struct {
	*story
	frames int
	text   string // words that were not shown yet
	result *chat
}

// show shows a frame: each line of text and each action as soon as it is complete.
func (v *streamView) show(f frame) error {
	v.text += f.Delta
	if end := strings.LastIndex(v.text, "\n"); end >= 0 || f.Type != "text-delta" && v.text != "" {
		if end < 0 || f.Type != "text-delta" {
			end = len(v.text)
		}
		v.screen.wrap(bar, v.text[:end])
		v.text = strings.TrimLeft(v.text[end:], "\n")
	}
	switch f.Type {
	case "data-action":
		var a action
		if err := json.Unmarshal(f.Data, &a); err != nil {
			return fmt.Errorf("data-action: %w", err)
		}
		v.action(a)
	case "tool-input-error":
		v.screen.remark("not applied: %s", f.ErrorText)
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
