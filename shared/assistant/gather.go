package assistant

import (
	"context"
	"maps"
	"slices"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/prompt"
	"devplatform/shared/workspace"
)

// question is what a user asks.
type question struct {
	projectID, message     string
	currentFile, framework string
	apply                  bool
}

// material is what an answer is made of.
type material struct {
	chat   prompt.Chat
	files  *projectFiles
	memory memory
}

const (
	// namedFiles is how many files that a message names are read.
	namedFiles = 8
	// namedBytes is how much they may hold in all; larger ones are left for the model to ask about.
	namedBytes = 1 << 20
)

// gather reads what the model is to be told: five calls to DynamoDB, however large the project is.
// Errors: PROJECT_NOT_FOUND, ACCESS_DENIED; storage's classes.
func (s *Service) gather(ctx context.Context, q question) (material, error) {
	view, err := s.projects.Open(ctx, q.projectID, workspace.Write)
	if err != nil {
		return material{}, err
	}
	var m material
	reads, readCtx := errgroup.WithContext(ctx)
	reads.Go(func() (err error) {
		m.files, err = readFiles(readCtx, view)
		return err
	})
	reads.Go(func() (err error) {
		m.memory, err = s.recall(readCtx, q.projectID)
		return err
	})
	if err := reads.Wait(); err != nil {
		return m, err //nolint:wrapcheck // one of the reads' own
	}
	m.chat = prompt.Chat{
		Project: view.Name, Framework: view.Framework, Total: view.Files,
		Paths: slices.Sorted(maps.Keys(m.files.known)), Summary: m.memory.summary, Message: q.message,
	}
	if q.framework != "" {
		m.chat.Framework = q.framework
	}
	for _, t := range m.memory.turns {
		m.chat.Turns = append(m.chat.Turns, t.told())
	}
	return m, s.readNamed(ctx, q, &m)
}

// readNamed reads the files that the prompt shows: the current one and those that the message names.
func (s *Service) readNamed(ctx context.Context, q question, m *material) error {
	wanted := prompt.Mentioned(q.message, m.chat.Paths)
	if !m.files.complete {
		wanted = append(wanted, prompt.PathsIn(q.message)...)
	}
	if q.currentFile != "" {
		wanted = append([]string{q.currentFile}, wanted...)
	}
	wanted = wanted[:min(len(wanted), 2*namedFiles)]
	if err := m.files.lookUp(ctx, wanted...); err != nil {
		return err
	}
	var shown []string
	total := 0
	for _, path := range wanted {
		info, ok := m.files.known[path]
		if !ok || slices.Contains(shown, path) || len(shown) > namedFiles {
			continue
		}
		if total += info.Size; total > namedBytes && path != q.currentFile {
			break
		}
		shown = append(shown, path)
	}
	if err := m.files.load(ctx, shown...); err != nil {
		return err
	}
	for _, path := range shown {
		data, ok := m.files.contents[path]
		if !ok || !utf8.Valid(data) {
			continue // gone meanwhile, or nothing that a model could read
		}
		m.chat.Files = append(m.chat.Files, prompt.Document{Path: path, Content: string(data)})
		if path == q.currentFile {
			m.chat.CurrentFile = path
		}
	}
	return nil
}

// told is a turn as a model is told of it.
func (t turn) told() model.Turn {
	told := model.Turn{User: t.question.Content, Assistant: t.answer.Content}
	for _, a := range t.answer.Actions {
		told.Did = append(told.Did, a.Brief())
	}
	return told
}
