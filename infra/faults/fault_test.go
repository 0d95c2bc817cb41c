package faults

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"time"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/sqs/sqstest"
)

// The faults of DynamoDB.
var (
	throughput = fault{
		name:   "throughput exceeded",
		handle: refusing("ProvisionedThroughputExceededException", "ProvisionedThroughputExceeded"),
	}
	throttled = fault{name: "throttled", handle: refusing("ThrottlingException", "ThrottlingError")}
	overLimit = fault{name: "over the account's limit", handle: refusing("RequestLimitExceeded", "ThrottlingError")}
	failing   = fault{name: "internal error", handle: replying(dynamotest.ServerError.Reply)}
	cut       = fault{name: "cut", handle: replying(dynamotest.Cut)}
	proxied   = fault{name: "a page of a load balancer", handle: replying(func(out http.ResponseWriter, _ *http.Request) {
		out.Header().Set("Content-Type", "text/html")
		out.WriteHeader(http.StatusServiceUnavailable)
		_, _ = out.Write([]byte("<html><body>No server is available to handle this request: injected</body></html>"))
	})}
	refused = fault{name: "refused"}
	// torn sends half of the response, after the call was executed.
	torn = fault{name: "torn", executes: true, handle: tear}
	// lost executes the call and sends no response.
	lost = fault{name: "lost", executes: true, handle: executing(dynamotest.Cut)}
	// hanging executes the call, and does not respond.
	hanging = fault{name: "hanging", executes: true, handle: executing(hang)}
	// dead does not execute the call, and does not respond.
	dead = fault{name: "dead", handle: replying(hang)}
)

// hang sends no response.
func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// slow executes each call after a wait.
func slow(by time.Duration) fault {
	handle := func(next http.Handler, out http.ResponseWriter, r *http.Request, _ call) {
		select {
		case <-time.After(by):
			next.ServeHTTP(out, r)
		case <-r.Context().Done():
		}
	}
	return fault{name: "slow", executes: true, handle: handle}
}

// limitedTo returns the fault for the calls that affects selects. name describes them.
func (f fault) limitedTo(name string, affects func(call) bool) fault {
	f.name += ", " + name
	f.affects = affects
	return f
}

// writes returns the fault for writes to tables.
func (f fault) writes() fault { return f.limitedTo("writes only", call.writes) }

// table returns the fault for the calls that name a table. logicalID is its name in the template.
func (f fault) table(logicalID string) fault {
	return f.limitedTo(logicalID, func(c call) bool {
		return c.service == tables && slices.ContainsFunc(c.tables, func(name string) bool {
			return strings.HasSuffix(name, "-"+logicalID)
		})
	})
}

// service returns the fault for the calls of a service.
func (f fault) service(name string) fault {
	return f.limitedTo(name, func(c call) bool { return c.service == name })
}

// faultHandler handles a call. next is the service.
type faultHandler = func(next http.Handler, out http.ResponseWriter, r *http.Request, c call)

// replying returns a handler that sends a response without executing the call.
func replying(reply http.HandlerFunc) faultHandler {
	return func(_ http.Handler, out http.ResponseWriter, r *http.Request, _ call) { reply(out, r) }
}

// executing returns a handler that executes the call, and then sends a response of its own.
func executing(reply http.HandlerFunc) faultHandler {
	return func(next http.Handler, out http.ResponseWriter, r *http.Request, _ call) {
		next.ServeHTTP(httptest.NewRecorder(), r)
		reply(out, r)
	}
}

// refusing returns a handler that responds with an exception of DynamoDB. A transaction is cancelled with a reason for
// each of its actions.
func refusing(exception, reason string) faultHandler {
	return func(_ http.Handler, out http.ResponseWriter, r *http.Request, c call) {
		if c.operation == "TransactWriteItems" {
			reasons := strings.TrimSuffix(strings.Repeat(`{"Code":"`+reason+`","Message":"injected"},`, c.actions), ",")
			more := `,"CancellationReasons":[` + reasons + `]`
			dynamotest.Refusal(http.StatusBadRequest, "TransactionCanceledException", more)(out, r)
			return
		}
		dynamotest.Refusal(http.StatusBadRequest, exception, "")(out, r)
	}
}

// tear sends the header and half of the body of the response, and closes the connection.
func tear(next http.Handler, out http.ResponseWriter, r *http.Request, _ call) {
	response := httptest.NewRecorder()
	next.ServeHTTP(response, r)
	for name, values := range response.Header() {
		out.Header()[name] = values
	}
	body := response.Body.Bytes()
	out.Header().Set("Content-Length", strconv.Itoa(len(body)+1))
	out.WriteHeader(response.Code)
	_, _ = out.Write(body[:len(body)/2])
	_ = http.NewResponseController(out).Flush()
	panic(http.ErrAbortHandler)
}

// queueThrottled is the throttling of SQS.
var queueThrottled = fault{name: "throttled", handle: replying(sqstest.Throttled.Reply)}.service(queues)
