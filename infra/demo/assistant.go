package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

// chat is an answer of the assistant.
type chat struct {
	Response string
	Actions  []action
	Model    string
	Usage    struct{ InputTokens, OutputTokens int }
	Applied  bool
}

// action is a change that the assistant makes to the project.
type action struct {
	Type, Path, To, Content string
	Packages                []string
}

// file is a record of a listing.
type file struct {
	Path, ETag, Version string
	Size                int
}

// ask has the assistant change the project, and shows what became of the project.
func (s *story) ask(ctx context.Context) error {
	const message = "Create a contact form with name, email and message. Rename /src/old.jsx to /src/legacy.jsx. Add zod."
	before, err := s.list(ctx, "before")
	if err != nil {
		return err
	}
	s.screen.say("“%s”", message)
	var answer chat
	if err := s.do(ctx, call{method: http.MethodPost, path: "/api/ai/chat", body: object{"projectId": s.project, "message": message, "apply": true},
		want: http.StatusOK, into: &answer}); err != nil {
		return err
	}
	words := &flow{screen: s.screen}
	words.write(answer.Response)
	words.endLine()
	for _, action := range answer.Actions {
		s.action(action)
	}
	s.verdict(answer)
	after, err := s.list(ctx, "after")
	if err != nil {
		return err
	}
	s.screen.remark("%s", "Changes in the project:")
	s.difference(before, after)
	return s.allDelivered(ctx)
}

// verdict says who answered, for how much, and whether the actions were done.
func (s *story) verdict(answer chat) {
	s.screen.fields(field{"model", answer.Model},
		field{"tokens", fmt.Sprintf("%s in, %s out", number(answer.Usage.InputTokens), number(answer.Usage.OutputTokens))},
		field{"applied", fmt.Sprint(answer.Applied)})
}

// action shows one with its mark.
func (s *story) action(a action) {
	switch a.Type {
	case "create_file":
		s.screen.mark("+", a.Path, "create_file, "+number(len(a.Content))+" bytes")
	case "update_file":
		s.screen.mark("~", a.Path, "update_file, "+number(len(a.Content))+" bytes")
	case "delete_file":
		s.screen.mark("-", a.Path, "delete_file")
	case "rename_file":
		s.screen.mark("~", a.Path+" → "+a.To, "rename_file")
	case "add_dependency":
		s.screen.mark("~", a.Path, "add_dependency "+clean(strings.Join(a.Packages, " ")))
	default:
		s.screen.mark("~", a.Path, clean(a.Type))
	}
}

// list reads the project's files, in the order of their paths.
func (s *story) list(ctx context.Context, note string) ([]file, error) {
	var listing struct{ Files []file }
	err := s.do(ctx, call{method: http.MethodGet, path: s.files(), note: note, want: http.StatusOK, into: &listing})
	return listing.Files, err
}

// difference shows what two listings do not have in common.
func (s *story) difference(before, after []file) {
	was, is := map[string]file{}, map[string]file{}
	for _, f := range before {
		was[f.Path] = f
	}
	for _, f := range after {
		is[f.Path] = f
		old, there := was[f.Path]
		switch {
		case !there:
			s.screen.mark("+", f.Path, number(f.Size)+" bytes")
		case old.Version != f.Version:
			s.screen.mark("~", f.Path, number(old.Size)+" → "+number(f.Size)+" bytes")
		}
	}
	for _, f := range before {
		if _, there := is[f.Path]; !there {
			s.screen.mark("-", f.Path, number(f.Size)+" bytes")
		}
	}
}
