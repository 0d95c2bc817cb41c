package assistant

import (
	"bytes"

	"devplatform/shared/assistant/action"
	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/uistream"
	"devplatform/shared/clock"
	"devplatform/shared/httpapi"
)

// What the document shows is made up of these.
const (
	shownULID   = "01K9ZQ3V7M8T5XW2ABCDEFGHJK"
	shownAnswer = "msg_" + shownULID
	shownCode   = "export default function Button() {\n  return <button>Save</button>\n}\n"
)

// shownAction is the action of the examples.
func shownAction() action.Action {
	content := shownCode
	return action.Action{Type: action.CreateFile, Path: "/src/Button.jsx", Content: &content}
}

// shownReply is the answer of the examples.
func shownReply() reply {
	return reply{
		ConversationID: "cnv_" + shownULID, Response: "Here is a button.", Code: shownCode, Actions: []action.Action{shownAction()},
		MessageID: shownAnswer, Model: "scaffold-1", Usage: usage{InputTokens: 1200, OutputTokens: 350},
	}
}

func chatExamples() httpapi.Examples { return httpapi.Examples{Response: shownReply()} }

// streamExamples show the stream of the same answer, as the stream's own writer writes it.
func streamExamples() httpapi.Examples {
	var sent bytes.Buffer
	w := uistream.NewWriter(&sent, func() error { return nil }, uistream.Options{})
	defer w.Close()
	for _, say := range []saying{
		func(w *uistream.Writer) error { return w.Start(shownAnswer) },
		func(w *uistream.Writer) error { return w.Text("Here is ") },
		func(w *uistream.Writer) error { return w.Text("a button.") },
		func(w *uistream.Writer) error { return w.ToolStart("call_1", string(action.CreateFile)) },
		func(w *uistream.Writer) error { return w.ToolDelta("call_1", `{"path":"/src/Button.jsx",`) },
		func(w *uistream.Writer) error {
			return w.ToolAvailable("call_1", string(action.CreateFile), shownInput{"/src/Button.jsx", shownCode})
		},
		func(w *uistream.Writer) error { return w.Data("action", shownAction()) },
		func(w *uistream.Writer) error { return w.Data("result", shownReply()) },
		func(w *uistream.Writer) error { return w.Finish(uistream.Stop) },
	} {
		if err := say(w); err != nil {
			panic(err) // a buffer takes everything: a mistake in the frames above
		}
	}
	return httpapi.Examples{Response: sent.String()}
}

// shownInput is what the model gives the tool that the action is made of.
type shownInput struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// conversationExamples show a question and its answer.
func conversationExamples() httpapi.Examples {
	var out conversationOutput
	out.Body.ConversationID, out.Body.ProjectID = "cnv_"+shownULID, "prj_"+shownULID
	at, r := clock.Stamp(httpapi.ExampleTime), shownReply()
	out.Body.Messages = []MessageItem{
		message{ID: "msg_01K9ZQ3V7M8T5XW2ABCDEFGHJJ", Role: model.User, Content: "Create a button component.", Status: complete, CreatedAt: at}.item(),
		message{
			ID: shownAnswer, Role: model.Assistant, Content: r.Response, Code: r.Code, Actions: r.Actions, Model: r.Model, Usage: r.Usage,
			Status: complete, CreatedAt: at,
		}.item(),
	}
	return httpapi.Examples{Response: out.Body}
}
