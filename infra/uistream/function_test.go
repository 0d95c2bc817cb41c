package uistream_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"

	sdk "devplatform/infra/uistream"
	"devplatform/shared/assistant/uistream"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/lambdafn/apigateway"
)

// functionVariable makes this test binary a Lambda function.
const functionVariable = "UISTREAM_TEST_FUNCTION"

func TestMain(m *testing.M) {
	if os.Getenv(functionVariable) != "" {
		lambda.Start(apigateway.NewStream(newRouter()))
	}
	os.Exit(m.Run())
}

type input struct{ Body sdk.Request }

// newRouter has the one call. The first word of its message names a scene, and what follows is the scene's.
func newRouter() http.Handler {
	config := httpapi.Config{Name: "test", Version: "1", Logger: slog.New(slog.DiscardHandler), Clock: time.Now}
	return httpapi.NewRouter(config, func(h huma.API) {
		op := httpapi.Operation{ID: "stream", Method: http.MethodPost, Path: "/api/ai/chat/stream", Events: true, Errors: []*fault.Error{fault.New(fault.CodeQuotaExceeded, "There is no such scene.")}}
		httpapi.Register(h, op, func(_ context.Context, in *input) (*huma.StreamResponse, error) {
			name, argument, _ := strings.Cut(in.Body.Message, " ")
			play, ok := scenes[name]
			if !ok {
				return nil, fault.New(fault.CodeQuotaExceeded, "There is no such scene.")
			}
			return &huma.StreamResponse{Body: func(ctx huma.Context) {
				stream := httpapi.EventStreamOf(ctx)
				w := uistream.NewWriter(stream, stream.FlushError, uistream.Options{})
				defer w.Close()
				if err := play(scene{w, stream, in.Body, argument}); err != nil {
					panic(err)
				}
			}}, nil
		})
	})
}

// scene is a stream to be filled.
type scene struct {
	*uistream.Writer

	to       *httpapi.EventStream
	asked    sdk.Request
	argument string
}

type action struct {
	Type string `json:"type"`
	Path string `json:"path"`
}

var scenes = map[string]func(scene) error{
	// all is an answer with everything that API.md §6.4 names.
	"all": func(s scene) error {
		return errors.Join(
			s.Start("msg_1"), s.Text("Hello, "), s.Text("wörld.\r\n\n"), s.Text("data: \u2028 [DONE]"),
			s.ToolStart("c1", "create_file"), s.ToolDelta("c1", `{"path":`), s.ToolDelta("c1", ` "/src/a.ts", "content": "a\n`),
			s.ToolDelta("c1", `\n"}`), s.ToolAvailable("c1", "create_file", jsontext.Value(`{"path": "/src/a.ts",
				"content": "a\n\n"}`)),
			s.Data("action", action{"create_file", "/src/a.ts"}),
			s.ToolStart("c2", "delete_file"), s.ToolDelta("c2", `{"path":"/`), s.ToolStart("c3", "delete_file"),
			s.ToolAvailable("c2", "delete_file", map[string]string{"path": "/b"}), s.ToolError("c3", "delete_file", "There is no such file."),
			s.Data("action", action{"delete_file", "/b"}), s.Text("Done."),
			s.Data("result", map[string]any{"response": "Done.", "asked": s.asked}), s.Finish(uistream.ToolCalls),
		)
	},
	// half breaks in the middle, and says so.
	"half": func(s scene) error {
		return errors.Join(s.Start("msg_1"), s.Text("Hel"), s.ToolStart("c1", "create_file"), s.ToolDelta("c1", `{"path": "/a`),
			s.Error("The model is busy."), s.Finish(uistream.Failed))
	},
	// cut breaks in the middle without a word.
	"cut": func(s scene) error { return errors.Join(s.Start("msg_1"), s.Text("Hel"), errors.New("out of words")) },
	// refused is an error before the first byte.
	"refused": func(s scene) error {
		s.Close()
		s.to.Fail(fault.New(fault.CodeAIUnavailable, "The model is busy.").WithHeader("Retry-After", "3"))
		return nil
	},
	// silent says nothing before and between its frames for several keep-alives.
	"silent": func(s scene) error {
		s.Close()
		counted := &counter{EventStream: s.to}
		w := uistream.NewWriter(counted, counted.FlushError, uistream.Options{KeepAlive: time.Microsecond})
		defer w.Close()
		counted.wait(3)
		err := errors.Join(w.Start("msg_1"), w.Text("a"))
		counted.wait(6)
		return errors.Join(err, w.Text("b"), w.Finish(uistream.Stop))
	},
	// live stops after its first words until somebody lets it go on.
	"live": func(s scene) error {
		if err := errors.Join(s.Start("msg_1"), s.Text("a")); err != nil {
			return err
		}
		response, err := http.Get(s.argument)
		if err != nil {
			return err
		}
		return errors.Join(response.Body.Close(), s.Text("b"), s.Finish(uistream.Stop))
	},
	// large is an answer of very many words.
	"large": func(s scene) error {
		err := s.Start("msg_1")
		for range 2000 {
			err = errors.Join(err, s.Text(strings.Repeat("é", 500)))
		}
		return errors.Join(err, s.Finish(uistream.Stop))
	},
}

// counter counts comments.
type counter struct {
	*httpapi.EventStream

	comments atomic.Int64
}

func (c *counter) Write(p []byte) (int, error) {
	if bytes.HasPrefix(p, []byte(":")) {
		defer c.comments.Add(1)
	}
	return c.EventStream.Write(p)
}

// wait waits for n comments.
func (c *counter) wait(n int64) {
	for c.comments.Load() < n {
		time.Sleep(time.Millisecond)
	}
}
