// Package prompt builds the requests to a model. A request contains instructions, and it can contain parts of the
// project and of the conversation, within token budgets. The package also finds the files that a message names, and the
// code in an answer. The package is pure: the same input results in the same request, byte for byte. It does not read
// projects, store conversations or call models.
package prompt

import (
	"fmt"
	"strings"

	"devplatform/shared/assistant/action"
	"devplatform/shared/assistant/model"
)

// Turn is a message and its answer.
type Turn struct {
	User, Assistant string
	// Actions contains a short description of each action of the answer, such as "create_file /src/a.ts".
	Actions []string
}

// Document is a file whose content is in the prompt.
type Document struct{ Path, Content string }

// Chat is a message about a project, with the information that the model needs to answer it.
type Chat struct {
	// Project is the project's name. Framework is the name of its framework, as the user wrote it.
	Project, Framework string
	// Paths are the paths of all files of the project.
	Paths []string
	// CurrentFile is the path of the file that the user is looking at, or "".
	CurrentFile string
	// Files are the files to show: first the current file, if it exists, then the named files, most important first.
	Files []Document
	// Unreadable are the paths of the files that would be in Files if they were not binary or too large.
	Unreadable []string
	// Summary replaces the turns that are older than Turns. Turns are sorted, oldest first.
	Summary string
	Turns   []Turn
	// Message is the user's message.
	Message string
}

// Request returns the request for an answer to the message: the recent turns as separate messages, then one message
// with everything else. The user's message is never cut.
func (c Chat) Request(b Budget, maxOutput int) model.Request {
	files := c.shownFiles(b)
	summary, _ := cut(clean(c.Summary), b.Summary*BytesPerToken-sectionOverhead)
	messages, calls := messagesOf(c.recentTurns(b.History))

	sections := []section{{"project", c.describeProject(maxOutput)}}
	if len(c.Paths) > 0 && b.Tree > 0 {
		sections = append(sections, section{"files", c.tree(b.Tree*BytesPerToken - sectionOverhead)})
	}
	sections = append(sections, fileSections(files)...)
	if summary != "" {
		sections = append(sections, section{"conversation before", summary})
	}
	if calls != "" {
		sections = append(sections, section{"previous answer", strings.TrimSpace(calls)})
	}
	sections = append(sections, section{"message", orNoText(clean(c.Message))})
	text := join(sections, messages)

	return model.Request{
		Task: model.TaskChat, System: chatInstruction, Tools: action.Tools(), MaxOutput: maxOutput,
		Messages: append(messages, model.Message{Role: model.User, Text: text}),
		Subject:  model.Subject{Prompt: c.Message, Framework: c.Framework, Paths: c.Paths, Files: files},
	}
}

// describeProject returns the lines that describe the project, and a line with the maximum length of the answer.
func (c Chat) describeProject(maxOutput int) string {
	lines := []string{
		"name: " + quoteName(c.Project), "framework: " + quoteName(c.Framework),
		fmt.Sprintf("number of files: %d", len(c.Paths)),
		fmt.Sprintf("maximum length of your answer: %d tokens", maxOutput),
	}
	if c.CurrentFile != "" {
		lines = append(lines, "the user is looking at: "+quoteName(c.CurrentFile))
	}
	for _, p := range c.Unreadable {
		lines = append(lines, "not readable, because it is binary or larger than 1 MiB: "+quoteName(p))
	}
	return strings.Join(lines, "\n")
}
