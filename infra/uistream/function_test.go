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
	config := httpapi.Config{Logger: slog.New(slog.DiscardHandler), Clock: time.Now, Auth: anyone{}}
	router := httpapi.NewRouter(config, func(r *httpapi.Routes) {
		op := httpapi.Operation{ID: "stream", Method: http.MethodPost, Path: "/api/ai/chat/stream", Errors: []*fault.Error{fault.New(fault.CodeQuotaExceeded, "There is no such scene.")}}
		httpapi.PrivateStream(r, op, func(_ context.Context, _ httpapi.Caller, in *input, stream *httpapi.EventStream) error {
			name, argument, _ := strings.Cut(in.Body.Message, " ")
			play, ok := scenes[name]
			if !ok {
				return fault.New(fault.CodeQuotaExceeded, "There is no such scene.")
			}
			w := uistream.NewWriter(stream, stream.FlushError, uistream.Options{})
			defer w.Close()
			err := play(scene{w, stream, in.Body, argument})
			if known := (*fault.Error)(nil); err != nil && !errors.As(err, &known) {
				panic(err)
			}
			return err
		})
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.AddCookie(&http.Cookie{Name: httpapi.SessionCookie, Value: "any"})
		router.ServeHTTP(w, r)
	})
}

// anyone accepts every session.
type anyone struct{}

// Authenticate implements httpapi.Authenticator.
func (anyone) Authenticate(context.Context, string) (httpapi.Caller, *httpapi.Renewal, error) {
	return httpapi.Caller{UserID: "usr_1"}, nil, nil
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
		return fault.New(fault.CodeAIUnavailable, "The model is busy.").WithHeader("Retry-After", "3")
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
