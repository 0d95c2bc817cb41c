package gateway

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"time"

	"devplatform/infra/local/resources"
	"devplatform/infra/local/runtime"
)

// defaultBodyTimeout is how long a client may take to send its body, and to read a large response.
const defaultBodyTimeout = time.Minute

// Options configure a gateway.
type Options struct {
	// API has the routes, the gateway responses, and whether bodies are binary.
	API resources.API
	// Invoke runs a function (required). Its context limits the wait for the function, not the function itself.
	Invoke func(context.Context, runtime.Invocation) (*runtime.Response, error)
	// Account is the account id in events.
	Account string
	// Now is the clock of events and of the log's durations (required).
	Now func() time.Time
	// Logger gets one line per request (required).
	Logger *slog.Logger
	// AcceptHost reports whether requests with a Host header are served. nil accepts all.
	AcceptHost func(host string) bool
	// DomainName returns requestContext.domainName for a Host header. nil returns the header with its port.
	DomainName func(host string) string
	// Landing serves GET and HEAD requests for / if the API has no route for it. nil means the response of the API.
	Landing http.Handler
	// StreamIdle is how long a streamed response may pause. 0 is AWS's limit for regional APIs, 5 minutes.
	StreamIdle time.Duration
	// BodyTimeout is how long a client may take to send its body, and to read a response or the next chunk of a streamed
	// one. 0 is one minute.
	BodyTimeout time.Duration
}

// Gateway is a REST API as an http.Handler. It is safe for concurrent use.
type Gateway struct {
	options      Options
	router       router
	deploymentID string
}

// New returns the gateway of an API.
func New(o Options) *Gateway {
	o.StreamIdle = cmp.Or(o.StreamIdle, defaultIdle)
	o.BodyTimeout = cmp.Or(o.BodyTimeout, defaultBodyTimeout)
	if o.DomainName == nil {
		o.DomainName = func(host string) string { return host }
	}
	return &Gateway{
		options: o, router: newRouter(o.API.ID, o.API.Routes), deploymentID: resources.Digest(6, o.API.ID, o.API.Stage),
	}
}

// ServeHTTP serves one request. It panics with [http.ErrAbortHandler] if a streamed response ends early, so that the
// client sees an incomplete body.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	now := g.options.Now().UTC()
	x := &exchange{ResponseWriter: w, gateway: g, control: http.NewResponseController(w), q: &request{
		Request: r, ids: newRequestIDs(now, r.Header.Get(headerTrace)), received: now, sourceIP: sourceIP(r.RemoteAddr),
		path: r.URL.Path,
	}}
	defer x.log()
	header := w.Header()
	header[headerRequestID] = []string{x.q.ids.request}
	header[headerExtendedID] = []string{x.q.ids.extended}
	if err := x.serve(); err != nil {
		x.refuse(err)
	}
}
