package prompt

import "devplatform/shared/assistant/model"

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

// Request is the call that answers the message.
func (c Chat) Request(_ Budget, maxOutput int) model.Request {
	return model.Request{Task: model.TaskChat, MaxOutput: maxOutput}
}

// Generate asks for one block of code and a short explanation.
func Generate(_, _, _ string, maxOutput int) model.Request {
	return model.Request{Task: model.TaskGenerate, MaxOutput: maxOutput}
}

// Summarize asks for a note that takes the place of turns and of the note before.
func Summarize(_ string, _ []model.Turn, maxOutput int) model.Request {
	return model.Request{Task: model.TaskSummarize, MaxOutput: maxOutput}
}

// Repair is the request after an answer to r some of whose calls failed: the answer, the results of its calls, and the wish for
// the failed ones only. A call without a result was taken in.
func Repair(r model.Request, _ string, _ []model.Call, _ []model.Result) model.Request { return r }
