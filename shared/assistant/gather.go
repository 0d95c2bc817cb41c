package assistant

import (
	"context"
	"maps"
	"slices"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/prompt"
	"devplatform/shared/httpapi"
	"devplatform/shared/project/file"
	"devplatform/shared/project/path"
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
	// namedFiles is how many files are looked for because they are named or looked at.
	namedFiles = 10
	// namedBytes is how much those that are read hold in all, the current one apart.
	namedBytes = 1 << 20
)

// gather reads what the model is to be told: five calls to DynamoDB, and one more in a project of so many files that not all were listed.
// Errors: PROJECT_NOT_FOUND, ACCESS_DENIED; storage's classes.
func (s *Service) gather(ctx context.Context, q question) (material, error) {
	view, err := s.files.Open(ctx, httpapi.CallerFrom(ctx), q.projectID, workspace.Write)
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

// readNamed reads the files that the prompt shows: the current one, those that the message names, and the manifests of what they
// belong to.
func (s *Service) readNamed(ctx context.Context, q question, m *material) error {
	wanted := prompt.Mentioned(q.message, m.chat.Paths)
	if !m.files.complete {
		wanted = append(wanted, prompt.PathsIn(q.message)...)
	}
	if q.currentFile != "" {
		wanted = append([]string{q.currentFile}, wanted...)
	}
	wanted = append(wanted[:min(len(wanted), namedFiles)], manifests(m.files.known, q.currentFile)...)
	if err := m.files.Prepare(ctx, wanted...); err != nil {
		return err
	}
	var shown []string
	total := 0
	for _, name := range wanted {
		info, ok := m.files.known[name]
		current := name == q.currentFile
		if !ok || slices.Contains(shown, name) || (total+info.Size > namedBytes && !current) {
			continue
		}
		if !current {
			total += info.Size
		}
		shown = append(shown, name)
	}
	if err := m.files.load(ctx, shown...); err != nil {
		return err
	}
	for _, name := range shown {
		data, ok := m.files.contents[name]
		if !ok || !utf8.Valid(data) {
			continue // gone meanwhile, or nothing that a model could read
		}
		m.chat.Files = append(m.chat.Files, prompt.Document{Path: name, Content: string(data)})
		if name == q.currentFile {
			m.chat.CurrentFile = name
		}
	}
	return nil
}

// manifests are the files that say what the project, or the part of it that a file is in, is built with.
func manifests(known map[string]file.File, of string) []string {
	folders := append([]string{""}, path.Ancestors(of)...)
	for _, folder := range slices.Backward(folders) {
		var found []string
		for _, name := range []string{"/package.json", "/go.mod"} {
			if _, ok := known[folder+name]; ok {
				found = append(found, folder+name)
			}
		}
		if found != nil {
			return found
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
