package assistant

import (
	"context"
	"errors"

	"devplatform/shared/assistant/action"
	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/prompt"
)

// A model that replaces a file without knowing its content removes parts of it, for example changes that were made by
// hand. Therefore, an answer may replace only files that the model has seen completely. If it tries to replace another
// file, or an edit of another file fails, the repair shows the file.

// seenFiles returns the paths of the files that a request shows, and whether it shows them completely.
func seenFiles(r model.Request) map[string]bool {
	seen := map[string]bool{}
	for _, f := range r.Subject.Files {
		seen[f.Path] = !f.Cut
	}
	return seen
}

// checkSeen returns a problem if the action would replace text that the model has not seen. Errors: *action.Problem;
// the error classes of db.
func (a *answer) checkSeen(ctx context.Context, parsed action.Action) error {
	if parsed.Type != action.UpdateFile || a.seen[parsed.Path] {
		return nil
	}
	text, err := a.draft.Text(ctx, parsed.Path)
	if _, ok := errors.AsType[*action.Problem](err); ok || err == nil && text == "" {
		return nil // the draft reports a missing file; a file that is not text can be replaced
	}
	if err != nil {
		return err
	}
	return &action.Problem{Text: parsed.Path + " was not shown completely, so replacing it could remove parts of it. " +
		"Use edit_file."}
}

// unseenFiles returns the files of the failed calls that the model has not seen completely, as the answer has changed
// them. It ignores errors, because the repair does not depend on these files.
func (a *answer) unseenFiles(ctx context.Context) []prompt.Document {
	var files []prompt.Document
	added := map[string]bool{}
	for _, f := range a.round.failures {
		if f.path == "" || a.seen[f.path] || added[f.path] {
			continue
		}
		added[f.path] = true
		if text, err := a.draft.Text(ctx, f.path); err == nil {
			files = append(files, prompt.Document{Path: f.path, Content: text})
		}
	}
	return files
}
