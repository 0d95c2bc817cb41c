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

// functionVariable is the environment variable that makes this test binary run as a Lambda function.
const functionVariable = "UISTREAM_TEST_FUNCTION"

func TestMain(m *testing.M) {
	if os.Getenv(functionVariable) != "" {
		lambda.Start(apigateway.NewStream(newRouter(), apigateway.Unbounded))
	}
	os.Exit(m.Run())
}

type input struct{ Body sdk.Request }

// newRouter returns a handler with one operation. The first word of the message selects the stream to send. The rest of
// the message is the argument of this stream.
func newRouter() http.Handler {
	config := httpapi.Config{Logger: slog.New(slog.DiscardHandler), Clock: time.Now, Auth: fakeAuthenticator{}}
	unknownStream := fault.New(fault.CodeQuotaExceeded, "The stream is unknown.")
	router := httpapi.NewRouter(config, func(r *httpapi.Routes) {
		op := httpapi.Operation{
			ID: "stream", Method: http.MethodPost, Path: "/api/ai/chat/stream", Errors: []*fault.Error{unknownStream},
		}
		httpapi.PrivateStream(r, op,
			func(_ context.Context, _ httpapi.Caller, in *input, stream *httpapi.EventStream) error {
				name, argument, _ := strings.Cut(in.Body.Message, " ")
				send, ok := streams[name]
				if !ok {
					return unknownStream
				}
				w := uistream.NewWriter(stream, stream.FlushError, uistream.Options{})
				defer w.Close()
				err := send(response{Writer: w, stream: stream, request: in.Body, argument: argument})
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

// fakeAuthenticator accepts every session.
type fakeAuthenticator struct{}

// Authenticate implements httpapi.Authenticator.
func (fakeAuthenticator) Authenticate(ctx context.Context, _ string) (context.Context, httpapi.Caller, error) {
	return ctx, httpapi.NewCaller("usr_1", "").Complete(httpapi.Account{}, nil), nil
}

// response is the response to one request.
type response struct {
	*uistream.Writer

	stream   *httpapi.EventStream
	request  sdk.Request
	argument string
}

type action struct {
	Type string `json:"type"`
	Path string `json:"path"`
}

// streams are the functions that send a response, by name.
var streams = map[string]func(response) error{
	// complete sends all kinds of frames.
	"complete": func(r response) error {
		return errors.Join(
			r.Start("msg_1"),
			r.Text("Hello, "),
			r.Text("wörld.\r\n\n"),
			r.Text("data: \u2028 [DONE]"),
			r.ToolStart("c1", "create_file"),
			r.ToolDelta("c1", `{"path":`),
			r.ToolDelta("c1", ` "/src/a.ts", "content": "a\n`),
			r.ToolDelta("c1", `\n"}`),
			r.ToolAvailable("c1", "create_file", jsontext.Value(`{"path": "/src/a.ts",
				"content": "a\n\n"}`)),
			r.Data("action", action{"create_file", "/src/a.ts"}),
			r.ToolStart("c2", "delete_file"),
			r.ToolDelta("c2", `{"path":"/`),
			r.ToolStart("c3", "delete_file"),
			r.ToolAvailable("c2", "delete_file", map[string]string{"path": "/b"}),
			r.ToolError("c3", "delete_file", "The file does not exist."),
			r.Data("action", action{"delete_file", "/b"}),
			r.Text("Done."),
			r.Data("result", map[string]any{"response": "Done.", "request": r.request}),
			r.Finish(uistream.Stop),
		)
	},
	// failed sends an error frame after a part of the answer.
	"failed": func(r response) error {
		return errors.Join(
			r.Start("msg_1"),
			r.Text("Hel"),
			r.ToolStart("c1", "create_file"),
			r.ToolDelta("c1", `{"path": "/a`),
			r.Error("The model is busy."),
			r.Finish(uistream.Failed),
		)
	},
	// aborted ends the response after a part of the answer, without an error frame.
	"aborted": func(r response) error {
		return errors.Join(r.Start("msg_1"), r.Text("Hel"), errors.New("the function failed"))
	},
	// rejected returns an error before the first byte.
	"rejected": func(r response) error {
		r.Close()
		return fault.New(fault.CodeAIUnavailable, "The model is busy.").WithHeader("Retry-After", "3")
	},
	// keepalive sends several comments before and between its frames.
	"keepalive": func(r response) error {
		r.Close()
		counter := &commentCounter{EventStream: r.stream}
		w := uistream.NewWriter(counter, counter.FlushError, uistream.Options{KeepAlive: time.Microsecond})
		defer w.Close()
		counter.wait(3)
		err := errors.Join(w.Start("msg_1"), w.Text("a"))
		counter.wait(6)
		return errors.Join(err, w.Text("b"), w.Finish(uistream.Stop))
	},
	// paused waits after its first frames until the server at the URL in the argument responds.
	"paused": func(r response) error {
		if err := errors.Join(r.Start("msg_1"), r.Text("a")); err != nil {
			return err
		}
		resume, err := http.Get(r.argument)
		if err != nil {
			return err
		}
		return errors.Join(resume.Body.Close(), r.Text("b"), r.Finish(uistream.Stop))
	},
	// large sends an answer of 2 MB.
	"large": func(r response) error {
		err := r.Start("msg_1")
		for range 2000 {
			err = errors.Join(err, r.Text(strings.Repeat("é", 500)))
		}
		return errors.Join(err, r.Finish(uistream.Stop))
	},
}

// commentCounter counts the comments of a stream.
type commentCounter struct {
	*httpapi.EventStream

	comments atomic.Int64
}

func (c *commentCounter) Write(p []byte) (int, error) {
	if bytes.HasPrefix(p, []byte(":")) {
		defer c.comments.Add(1)
	}
	return c.EventStream.Write(p)
}

// wait waits until n comments were sent.
func (c *commentCounter) wait(n int64) {
	for c.comments.Load() < n {
		time.Sleep(time.Millisecond)
	}
}
