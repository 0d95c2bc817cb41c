package assistant

import (
	"context"
	"maps"
	"slices"
	"unicode/utf8"

	"devplatform/shared/assistant/conversation"
	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/prompt"
	"devplatform/shared/async"
	"devplatform/shared/project/file"
	"devplatform/shared/project/path"
)

const (
	// maxNamedFiles is the maximum number of files that are read because they are open in the editor, named in the
	// message, or changed by the previous answer.
	maxNamedFiles = 10
	// maxNamedBytes is the maximum total size of the files that are read, excluding the current file. Files of more than
	// 1 MiB are never read.
	maxNamedBytes = 1 << 20
)

// gather reads the data for the prompt: first the list of files and the conversation, in one call each, and then the
// files that the prompt contains, in one call: the current file, the files that the message names or that the previous
// answer changed, and the manifests that belong to the current file. If the project has more files than were listed, a
// call before the last one looks up the named files.
func (t *turn) gather(ctx context.Context) error {
	reads, readCtx := async.WithContext(ctx)
	reads.Go(func() (err error) {
		t.projectFiles, err = listFiles(readCtx, t.files.View(t.question.ProjectID))
		return err
	})
	reads.Go(func() (err error) {
		t.memory, err = t.conversations.Recall(readCtx, t.question.ProjectID)
		return err
	})
	if err := reads.Wait(); err != nil {
		return err
	}
	t.prompt = prompt.Chat{
		Paths: slices.Sorted(maps.Keys(t.projectFiles.known)), Summary: t.memory.Summary, Turns: modelTurns(t.memory.Turns),
		Message: t.question.Message,
	}
	paths, err := t.filesToShow(ctx)
	if err != nil {
		return err
	}
	if err := t.projectFiles.load(ctx, paths...); err != nil {
		return err
	}
	for _, name := range paths {
		data, ok := t.projectFiles.contents[name]
		switch {
		case t.projectFiles.known[name].IsLarge() || !utf8.Valid(data):
			t.prompt.Unreadable = append(t.prompt.Unreadable, name)
		case ok: // otherwise the file was deleted after it was listed
			t.prompt.Files = append(t.prompt.Files, prompt.Document{Path: name, Content: string(data)})
			if name == t.question.CurrentFile {
				t.prompt.CurrentFile = name
			}
		}
	}
	return nil
}

// modelTurns converts stored turns to turns of a prompt.
func modelTurns(turns []conversation.Turn) []model.Turn {
	var all []model.Turn
	for _, t := range turns {
		m := model.Turn{User: t.Question.Content, Assistant: t.Answer.Content}
		for _, a := range t.Answer.Actions {
			m.Actions = append(m.Actions, a.Brief())
		}
		all = append(all, m)
	}
	return all
}

// filesToShow returns the paths of the files that the prompt contains, or reports as unreadable, the current file
// first.
func (t *turn) filesToShow(ctx context.Context) ([]string, error) {
	current := t.question.CurrentFile
	wanted := prompt.Mentioned(t.question.Message, t.prompt.Paths)
	if !t.projectFiles.complete {
		wanted = append(wanted, prompt.PathsIn(t.question.Message)...)
	}
	if len(wanted) == 0 {
		wanted = lastChanged(t.memory.Turns)
	}
	if current != "" {
		wanted = append([]string{current}, wanted...)
	}
	wanted = append(wanted[:min(len(wanted), maxNamedFiles)], manifests(t.projectFiles.known, current)...)
	if err := t.projectFiles.Prepare(ctx, wanted...); err != nil {
		return nil, err
	}
	var shown []string
	total := 0
	for _, name := range wanted {
		info, ok := t.projectFiles.known[name]
		if !ok || slices.Contains(shown, name) {
			continue
		}
		if name != current && !info.IsLarge() { // the content of a large file is not read
			if total+info.Size > maxNamedBytes {
				continue
			}
			total += info.Size
		}
		shown = append(shown, name)
	}
	return shown, nil
}

// lastChanged returns the paths that the actions of the last answer changed. A message that names no file, such as "now
// make it green", is probably about them.
func lastChanged(turns []conversation.Turn) []string {
	var paths []string
	if len(turns) == 0 {
		return nil
	}
	for _, a := range turns[len(turns)-1].Answer.Actions {
		if a.To != nil {
			a.Path = *a.To
		}
		if !slices.Contains(paths, a.Path) {
			paths = append(paths, a.Path)
		}
	}
	return paths
}

// manifests returns the paths of the manifests (package.json and go.mod) in the nearest folder that has a manifest. It
// searches the folders that contain the current file, the innermost first.
func manifests(known map[string]file.File, current string) []string {
	folders := append([]string{""}, path.Ancestors(current)...)
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
