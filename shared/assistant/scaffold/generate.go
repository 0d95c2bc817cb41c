package scaffold

import (
	"fmt"
	"path"
	"strings"

	"devplatform/shared/assistant/model"
)

// generate writes one block of code for a prompt without a project. Its errors are reasons for a refusal.
func generate(f model.Facts) (answer, error) {
	requests, err := understand(f)
	switch {
	case err != nil:
		return answer{}, err
	case len(requests) > 1:
		return answer{}, refusef("Ask for one piece at a time.")
	case requests[0].piece == starter:
		return answer{}, refusef("A starter has several files, so it needs a project.")
	}
	files, err := filesOf(requests[0], model.Facts{})
	if err != nil {
		return answer{}, err
	}
	block := fmt.Sprintf("```%s\n%s```", strings.TrimPrefix(path.Ext(files[0].path), "."), files[0].content)
	return answer{text: strings.Join([]string{block, explain(requests[0], files), fromTemplates}, "\n\n")}, nil
}

// summarize returns one line for each turn: the question, and the actions of the answer. The oldest lines are left out
// if there is no room for them.
func summarize(f model.Facts, maxTokens int) string {
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(f.Summary, "�")), "\n")
	if lines[0] == "" {
		lines = nil
	}
	for _, t := range f.Turns {
		done := "nothing was changed"
		if len(t.Actions) > 0 {
			done = strings.ToValidUTF8(strings.Join(t.Actions, ", "), "�")
		}
		lines = append(lines, fmt.Sprintf("- “%s”: %s", clip(t.User), done))
	}
	for len(lines) > 0 && (answer{text: strings.Join(lines, "\n")}).tokens() > maxTokens {
		lines = lines[1:]
	}
	return strings.Join(lines, "\n")
}
