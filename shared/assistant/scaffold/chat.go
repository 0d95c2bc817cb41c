package scaffold

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"devplatform/shared/assistant/action"
	"devplatform/shared/assistant/model"
)

const fromTemplates = "(From the built-in templates. No language model was used.)"

// The end of a refusal. The three lines are the settings of `make run`; shared/config/README.md explains them.
const (
	abilities = "I changed nothing. I am the built-in generator, not a language model: I fill in templates, and refuse what I " +
		"do not understand completely."
	connect = "For everything else, connect a language model, such as one that Ollama serves: stop the platform, and start " +
		"it again with these settings:\n\n" +
		"- `AI_PROVIDER=openai`\n- `AI_MODEL=qwen3-coder`\n- `OPENAI_BASE_URL=http://localhost:11434/v1`"
)

var asksForApp = regexp.MustCompile(`(?i)\b(app|application|web ?site|site|home ?page)\b`)

// refusal returns an answer without actions. Its examples are requests that attempt understands in this project.
func refusal(f model.Facts, reason error, attempt func(model.Facts) (answer, error)) answer {
	var tries []string
	text, prompt := reason.Error(), f.Prompt
	for _, f.Prompt = range []string{
		"create a starter", "create a contact form with name and email", examples[table], examples[page], "a todo list",
		examples[endpoint], examples[endpoint] + ", in Express", "npm install zod",
	} {
		known := "“" + strings.TrimSuffix(f.Prompt, ", in Express") + "”" // the project uses Express
		if _, err := attempt(f); err == nil && len(tries) < 5 && !slices.Contains(tries, known) {
			tries = append(tries, "“"+f.Prompt+"”")
		}
	}
	if len(tries) > 0 && tries[0] == "“create a starter”" && asksForApp.MatchString(prompt) {
		text += " For a small app for tasks, say " + tries[0] + "."
	}
	text += "\n\n" + abilities
	if len(tries) > 0 {
		text += " Try for example " + enumerate(tries) + "."
	}
	return answer{text: text + "\n\n" + connect}
}

// chat answers a message about a project. Its errors are reasons for a refusal.
func chat(f model.Facts) (answer, error) {
	requests, err := understand(f)
	if err != nil {
		return answer{}, err
	}
	p := plan{facts: f}
	for _, r := range requests {
		if err := p.add(r); err != nil {
			return answer{}, err
		}
	}
	if n := len(p.calls); n > action.MaxPerAnswer-p.renames {
		return answer{}, refusef("The requests need %d actions, and an answer can have %d.", n, action.MaxPerAnswer)
	}
	return answer{text: strings.Join(append(p.text, fromTemplates), "\n\n"), calls: p.calls}, nil
}

// plan collects the actions of an answer.
type plan struct {
	facts   model.Facts
	text    []string
	calls   []call
	paths   []string
	renames int // a rename counts twice in a batch
}

func (p *plan) add(r request) error {
	switch r.piece {
	case rename:
		p.renames++
		p.say("I rename `%s` to `%s`. I do not change files that refer to it.", r.path, r.to)
		p.paths = append(p.paths, r.to)
		return p.call(action.RenameFile, r.path, input{"to": r.to})
	case remove:
		p.say("I delete `%s`. I do not change files that refer to it.", r.path)
		return p.call(action.DeleteFile, r.path, input{})
	case install:
		p.say("I add %s to `%s`. Run `npm install` afterwards.", enumerate(r.packages), r.path)
		return p.call(action.AddDependency, r.path, input{"packages": r.packages})
	}
	files, err := filesOf(r, p.facts)
	if err != nil {
		return err
	}
	p.say("%s", explain(r, files))
	for _, f := range files {
		if exists(p.facts, f.path) {
			advice := map[bool]string{false: "Choose another name (“… called Y”), or delete it first.", true: "Delete it first."}
			return refusef("The file %s exists already. %s", f.path, advice[r.piece == starter || r.piece == endpoint])
		}
		if err := p.call(action.CreateFile, f.path, input{"content": f.content}); err != nil {
			return err
		}
	}
	return nil
}

func (p *plan) say(format string, values ...any) {
	p.text = append(p.text, fmt.Sprintf(format, values...))
}

// input contains the members of an action, except its type and path.
type input map[string]any

// call adds an action.
func (p *plan) call(kind action.Type, path string, in input) error {
	if slices.Contains(p.paths, path) {
		return refusef("Two of these requests change %s. Ask for them one after another.", path)
	}
	p.paths = append(p.paths, path)
	in["path"] = path
	text, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("encode an action: %w", err)
	}
	p.calls = append(p.calls, call{name: string(kind), input: string(text)})
	return nil
}
