package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"devplatform/infra/local/runtime"
	"devplatform/infra/local/stack"
)

const (
	// maxBody is API Gateway's limit on a request's payload.
	maxBody = 10 << 20
	// maxHeaders is API Gateway's limit on all header values of a request together, maxURL that on the URL of a regional API.
	maxHeaders = 10240
	maxURL     = 10240
	// drainLimit is how much of a body that is too large is read before the answer, so that clients that write before they
	// read see the answer and no broken connection.
	drainLimit = 64 << 20
	// defaultBodyTimeout is how long a client may take to send its body, and to take a large answer.
	defaultBodyTimeout = time.Minute
	// firstBuffer is what is set aside for a body before any of it has come: a client can announce much and send nothing.
	firstBuffer = 64 << 10
)

// Options say what a gateway serves and how.
type Options struct {
	// API has the routes, the gateway responses and the binary media types.
	API stack.API
	// Invoke runs a function. Its context limits the waiting, never the function.
	Invoke func(context.Context, runtime.Invocation) (*runtime.Response, error)
	// Account is the account id in events.
	Account string
	// Now is the clock of events and of the log's durations.
	Now func() time.Time
	// Logger gets a line a request.
	Logger *slog.Logger
	// AcceptHost reports whether requests with a Host header are answered; nil answers all.
	AcceptHost func(host string) bool
	// DomainName returns requestContext.domainName for a Host header; nil is the header as it is, with its port.
	DomainName func(host string) string
	// Beside is another gateway of the process, whose connections count together with this one's; nil if there is none.
	Beside *Gateway
	// Landing answers GET and HEAD / if the API has no route for it. nil: the API's own response.
	Landing http.Handler
	// StageInPath has requests come to /<stage>/…, as at execute-api's own domain names.
	StageInPath bool
	// StreamIdle is how long a streamed answer may be silent; 0 is AWS's 5 minutes for regional APIs.
	StreamIdle time.Duration
	// BodyTimeout is how long a client may take to send its body, and to take an answer or the next piece of a streamed one;
	// 0 is a minute.
	BodyTimeout time.Duration
	// MaxConnections is how many clients are connected at a time, over all listeners; 0 is what the process's limit of open
	// files leaves room for, 16,384 at most.
	MaxConnections int
}

// Gateway is a REST API as an http.Handler. It is safe for concurrent use.
type Gateway struct {
	api            stack.API
	router         *router
	responses      map[string]*gatewayResponse
	binary         binaryTypes
	invoke         func(context.Context, runtime.Invocation) (*runtime.Response, error)
	account        string
	deploymentID   string
	stageVariables []byte
	stagePrefix    string // "" or "/<stage>"
	idle           time.Duration
	bodyTimeout    time.Duration
	crowd          *crowd
	acceptHost     func(string) bool
	landing        http.Handler
	domainName     func(string) string
	now            func() time.Time
	logger         *slog.Logger
}

// New makes the gateway of an API. What the API asks for and API Gateway, or this package, does not have is an error.
func New(o Options) (*Gateway, error) {
	g := &Gateway{
		api: o.API, binary: newBinaryTypes(o.API.BinaryMediaTypes), invoke: o.Invoke, account: o.Account,
		deploymentID: shortID(o.API.ID, o.API.Stage), stageVariables: stageVariables(o.API.Variables),
		idle: cmp.Or(o.StreamIdle, defaultIdle), bodyTimeout: cmp.Or(o.BodyTimeout, defaultBodyTimeout), now: o.Now, logger: o.Logger,
		acceptHost: o.AcceptHost, landing: o.Landing, domainName: o.DomainName,
	}
	if o.Invoke == nil || o.Now == nil || o.Logger == nil {
		return nil, errors.New("gateway: Invoke, Now and Logger are needed")
	}
	if o.StageInPath {
		g.stagePrefix = "/" + o.API.Stage
	}
	if g.domainName == nil {
		g.domainName = func(host string) string { return host }
	}
	if o.Beside != nil {
		g.crowd = o.Beside.crowd
	} else {
		g.crowd = newCrowd(o)
	}
	var err error
	if g.router, err = newRouter(o.API.ID, o.API.Routes); err != nil {
		return nil, fmt.Errorf("gateway: API %s: %w", o.API.Name, err)
	}
	g.router.root.each(g.staticEvent)
	if g.responses, err = g.compileResponses(o.API.GatewayResponses); err != nil {
		return nil, fmt.Errorf("gateway: API %s: %w", o.API.Name, err)
	}
	return g, nil
}

func stageVariables(variables map[string]string) []byte {
	if len(variables) == 0 {
		return []byte("null")
	}
	var b []byte
	i := 0
	for name, value := range variables {
		b = append(b, separator(i))
		b = appendString(quote(b, name), `:`, value)
		i++
	}
	return append(b, '}')
}

// ServeHTTP answers one request. It panics with [http.ErrAbortHandler] when a streamed answer broke off, so that the client
// sees an incomplete body.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{gateway: g, w: w, control: http.NewResponseController(w), q: g.receive(r)}
	defer x.log()
	header := w.Header()
	header[headerRequestID] = []string{x.q.ids.request}
	header[headerExtendedID] = []string{x.q.ids.extended}
	if err := x.serve(); err != nil {
		x.refuse(err)
	}
}

func (g *Gateway) receive(r *http.Request) *request {
	now := g.now().UTC()
	return &request{
		Request: r, ids: newRequestIDs(now, r.Header.Get(headerTrace)), received: now, sourceIP: sourceIP(r.RemoteAddr),
		path: r.URL.Path, fullPath: r.URL.Path,
	}
}

// exchange is one request and its answer.
type exchange struct {
	gateway *Gateway
	w       http.ResponseWriter
	control *http.ResponseController // a recorder in a test has no deadlines and no flushing
	q       *request
	status  int   // 0 until the head of the response is sent
	cause   error // why the gateway answered itself, or broke off
}

func (x *exchange) serve() error {
	hasBody := x.q.hasBody()
	if hasBody { // also where it isn't read here: net/http looks at what is left of it
		_ = x.control.SetReadDeadline(soon(x.gateway.bodyTimeout))
	}
	if x.q.Context().Value(refusedKey{}) != nil {
		x.w.Header()["Connection"] = []string{"close"}
		return errThrottled
	}
	if accept := x.gateway.acceptHost; accept != nil && !accept(x.q.Host) {
		return errHost
	}
	if err := x.resolve(); err != nil {
		if errors.Is(err, errNoRoute) && x.wantsLanding() {
			x.status = http.StatusOK
			x.gateway.landing.ServeHTTP(x.w, x.q.Request)
			return nil
		}
		return err
	}
	if hasBody {
		if err := x.readBody(); err != nil {
			return err
		}
	}
	event := x.gateway.event(x.q)
	if len(event) > runtime.MaxPayload {
		return errTooLarge
	}
	x.q.body = nil // it stands in the event
	ctx, cancel := context.WithTimeout(context.WithoutCancel(x.q.Context()), x.q.route.timeout)
	defer cancel()
	response, err := x.gateway.invoke(ctx, runtime.Invocation{
		Function: x.q.route.function, RequestID: x.q.ids.request, Payload: event, TraceID: x.q.ids.trace, Stream: x.q.route.stream,
	})
	if err != nil {
		return fmt.Errorf("invoke: %w", err)
	}
	if response.FunctionError != nil {
		_ = response.Body.Close()
		return response.FunctionError
	}
	x.w.Header()[headerTrace] = []string{x.q.ids.trace}
	if x.q.route.stream {
		return x.stream(ctx, response)
	}
	return x.buffer(response)
}

// wantsLanding reports whether a request that no route matches gets the landing page.
func (x *exchange) wantsLanding() bool {
	return x.gateway.landing != nil && x.q.path == "/" && (x.q.Method == http.MethodGet || x.q.Method == http.MethodHead)
}

// resolve finds out what is asked for.
func (x *exchange) resolve() error {
	q := x.q
	target, err := requestTarget(q.Request)
	if err != nil {
		return err
	}
	q.path, q.fullPath = target.path, target.path
	if prefix := x.gateway.stagePrefix; prefix != "" {
		rest, ok := strings.CutPrefix(target.path, prefix)
		if !ok || rest != "" && rest[0] != '/' {
			return errStage
		}
		q.path = rest
		if rest == "" {
			q.path = "/"
		}
	}
	if len(q.RequestURI) > maxURL {
		return errURLTooLong
	}
	if headerSize(q.Request) > maxHeaders {
		return errHeadersTooLong
	}
	if q.query, err = parseQuery(target.query); err != nil {
		return err
	}
	if q.route, q.values = x.gateway.router.match(q.Method, q.path); q.route == nil {
		return errNoRoute
	}
	return nil
}

// hasBody tells whether there is anything to read.
func (q *request) hasBody() bool {
	return q.ContentLength != 0 && q.Body != nil && q.Body != http.NoBody
}

// readBody reads the whole body: API Gateway does not stream requests.
func (x *exchange) readBody() error {
	q := x.q
	if q.ContentLength > maxBody {
		x.drain()
		return errTooLarge
	}
	body, err := readSized(io.LimitReader(q.Body, maxBody+1), q.ContentLength)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errSlowBody
	case err != nil:
		return errBadRequest
	case len(body) > maxBody:
		x.drain()
		return errTooLarge
	}
	_ = x.control.SetReadDeadline(time.Time{})
	q.body = body
	q.binary = x.gateway.binary.match(firstMediaType(q.Header[headerContentType]))
	return nil
}

// soon is the time after d on the machine's clock, which deadlines of connections go by.
func soon(d time.Duration) time.Time {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	at, _ := ctx.Deadline()
	return at
}

// readSized reads all of r, of which the client says how long it is, or -1. The buffer grows with what has come.
func readSized(r io.Reader, size int64) ([]byte, error) {
	if size < 0 {
		return io.ReadAll(r) //nolint:wrapcheck // readBody looks at the error itself
	}
	body := make([]byte, min(size, firstBuffer))
	for read := 0; ; {
		n, err := io.ReadFull(r, body[read:])
		if read += n; err != nil || int64(read) == size {
			return body, err //nolint:wrapcheck // as above
		}
		body = append(body, make([]byte, min(int64(read), size-int64(read)))...)
	}
}

// drain reads what the client sends of a body that is refused, unless it waits to be asked for it.
func (x *exchange) drain() {
	if x.q.Header.Get("Expect") == "" {
		_, _ = io.Copy(io.Discard, io.LimitReader(x.q.Body, drainLimit))
	}
}

// buffer sends an answer that is there as a whole.
func (x *exchange) buffer(response *runtime.Response) error {
	a, err := x.gateway.parseAnswer(response.Payload, x.q.Header["Accept"])
	_ = response.Body.Close() // the answer is a copy
	if errors.Is(err, errBase64) {
		return errors.Join(errConfiguration, err)
	}
	if err != nil {
		return err
	}
	x.status = a.status
	x.hurry(time.Time{})
	a.send(x.w)
	return nil
}

// hurry gives the client its time to take what is sent next, however little it is: what it doesn't read fills the
// connection's buffers sooner or later. It ends at the end in any case, where there is one.
func (x *exchange) hurry(end time.Time) {
	patience := x.gateway.bodyTimeout
	if x.q.hasBody() {
		patience += readHeaderTimeout // net/http first reads what is left of the body, which has a time of its own
	}
	at := soon(patience)
	if !end.IsZero() && end.Before(at) {
		at = end
	}
	_ = x.control.SetWriteDeadline(at)
}

// stream passes an answer on as it comes.
func (x *exchange) stream(ctx context.Context, response *runtime.Response) error {
	end, _ := ctx.Deadline() // a client that doesn't read may not outlast the time-out
	s := &streamer{
		w: x.w, flush: x.control.Flush, prelude: new(prelude),
		started: func(status int) { x.status = status }, writing: func() { x.hurry(end) },
	}
	err := startPump(response.Body).each(ctx, x.q.Context().Done(), x.gateway.idle, s.take)
	if err == nil && s.prelude != nil {
		return errPrelude
	}
	return err
}

// refuse answers with a gateway response or, where an answer was under way, breaks it off.
func (x *exchange) refuse(err error) {
	x.cause = err
	if errors.Is(err, errGone) || x.status != 0 {
		panic(http.ErrAbortHandler)
	}
	x.w.Header().Del(headerTrace)
	x.hurry(time.Time{})
	x.status = x.gateway.fail(x.w, x.q, refused(err))
}

// log writes the request's line.
func (x *exchange) log() {
	q := x.q
	attributes := []slog.Attr{
		slog.String("method", q.Method), slog.String("path", q.fullPath), slog.Int("status", x.status),
		slog.Duration("duration", x.gateway.now().Sub(q.received)), slog.String("function", q.function()),
		slog.String("requestId", q.ids.request),
	}
	if x.cause != nil {
		attributes = append(attributes, slog.String("error", x.cause.Error()))
	}
	x.gateway.logger.LogAttrs(context.WithoutCancel(q.Context()), slog.LevelInfo, "request", attributes...)
}

func (q *request) function() string {
	if q.route == nil {
		return ""
	}
	return q.route.function
}
