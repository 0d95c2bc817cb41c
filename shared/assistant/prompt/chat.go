package prompt

import (
	"fmt"
	"strings"

	"devplatform/shared/assistant/action"
	"devplatform/shared/assistant/model"
)

// Document is a file that the model is shown.
type Document struct{ Path, Content string }

// Chat is a message about a project and what the model is to know when it answers.
type Chat struct {
	// Project is its name, Framework as its owner called it.
	Project, Framework string
	// Paths are the project's files, or the first of them; Total is how many there are.
	Paths []string
	Total int
	// CurrentFile is the path that the user looks at, empty if none.
	CurrentFile string
	// Files are those to be shown: the current one first, if it exists, then the named ones, the most important first.
	Files []Document
	// Summary is the note in place of turns older than Turns, which are the oldest first.
	Summary string
	Turns   []model.Turn
	// Message is what the user says now.
	Message string
}

// Request is the call that answers the message: the recent turns as messages of their own, then one with all the rest. Its message is
// whole, whatever the budget.
func (c Chat) Request(b Budget, maxOutput int) model.Request {
	files, turns := c.show(b), c.recent(b.History)
	summary, _ := cut(clean(c.Summary), b.Summary*bytesPerToken-frame)
	messages, after := messagesOf(turns)

	sections := []section{{"project", c.facts()}}
	if len(c.Paths) > 0 && b.Tree > 0 {
		sections = append(sections, section{"files", c.tree(b.Tree*bytesPerToken - frame)})
	}
	for _, f := range files {
		sections = append(sections, section{fileTitle(f.Path, f.Cut), f.Content})
	}
	if summary != "" {
		sections = append(sections, section{"conversation before", summary})
	}
	if after != "" {
		sections = append(sections, section{"previous answer", strings.TrimSpace(after)})
	}
	sections = append(sections, section{"message", orNothing(clean(c.Message))})
	text := together(sections, texts(messages))

	return model.Request{
		Task: model.TaskChat, System: chatInstruction, Tools: action.Tools(), MaxOutput: maxOutput,
		Messages: append(messages, model.Message{Role: model.User, Text: text}),
		Facts: model.Facts{
			Prompt: c.Message, Framework: c.Framework, Paths: c.Paths, Files: files, CurrentFile: c.CurrentFile,
			Turns: turns, Summary: summary,
		},
	}
}

// facts are what is known of the project, a line each.
func (c Chat) facts() string {
	lines := []string{"name: " + name(c.Project), "framework: " + name(c.Framework), fmt.Sprintf("number of files: %d", max(c.Total, len(c.Paths)))}
	if c.CurrentFile != "" {
		lines = append(lines, "the user is looking at: "+name(c.CurrentFile))
	}
	return strings.Join(lines, "\n")
}

func texts(messages []model.Message) []string {
	all := make([]string, len(messages))
	for i, m := range messages {
		all[i] = m.Text
	}
	return all
}
