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

// Kinds of trouble with DynamoDB.
var (
	throughput = trouble{name: "throughput exceeded", happen: refusing("ProvisionedThroughputExceededException", "ProvisionedThroughputExceeded")}
	throttled  = trouble{name: "throttled", happen: refusing("ThrottlingException", "ThrottlingError")}
	overLimit  = trouble{name: "over the account's limit", happen: refusing("RequestLimitExceeded", "ThrottlingError")}
	failing    = trouble{name: "internal error", happen: replying(dynamotest.ServerError.Reply)}
	cut        = trouble{name: "cut", happen: replying(dynamotest.Cut)}
	proxied    = trouble{name: "a balancer's own page", happen: replying(func(out http.ResponseWriter, _ *http.Request) {
		out.Header().Set("Content-Type", "text/html")
		out.WriteHeader(http.StatusServiceUnavailable)
		_, _ = out.Write([]byte("<html><body>No server is available to handle this request: injected</body></html>"))
	})}
	refused = trouble{name: "refused"}
	// torn answers end in the middle, those of changes that were made, too.
	torn = trouble{name: "torn", applies: true, happen: tear}
	// lost answers are those of calls that were made.
	lost = trouble{name: "lost", applies: true, happen: func(next http.Handler, out http.ResponseWriter, r *http.Request, _ call) {
		next.ServeHTTP(httptest.NewRecorder(), r)
		dynamotest.Cut(out, r)
	}}
	// hanging calls are made, and never answered.
	hanging = trouble{name: "hanging", applies: true, happen: func(next http.Handler, _ http.ResponseWriter, r *http.Request, _ call) {
		next.ServeHTTP(httptest.NewRecorder(), r)
		<-r.Context().Done()
	}}
	// dead services take a call and do nothing.
	dead = trouble{name: "dead", happen: func(_ http.Handler, _ http.ResponseWriter, r *http.Request, _ call) { <-r.Context().Done() }}
)

// slow has each call answered so much later.
func slow(by time.Duration) trouble {
	return trouble{name: "slow", applies: true, happen: func(next http.Handler, out http.ResponseWriter, r *http.Request, _ call) {
		select {
		case <-time.After(by):
			next.ServeHTTP(out, r)
		case <-r.Context().Done():
		}
	}}
}

// only is the trouble for those calls.
func (tr trouble) only(name string, on func(call) bool) trouble {
	tr.name += ", " + name
	tr.on = on
	return tr
}

func (tr trouble) writes() trouble { return tr.only("writes alone", call.writes) }

// table is the trouble for calls that have to do with a table, which is named as in the template.
func (tr trouble) table(logicalID string) trouble {
	return tr.only(logicalID, func(c call) bool {
		return c.service == tables && slices.ContainsFunc(c.tables, func(name string) bool { return strings.HasSuffix(name, "-"+logicalID) })
	})
}

func (tr trouble) service(name string) trouble {
	return tr.only(name, func(c call) bool { return c.service == name })
}

type happening = func(next http.Handler, out http.ResponseWriter, r *http.Request, c call)

func replying(reply http.HandlerFunc) happening {
	return func(_ http.Handler, out http.ResponseWriter, r *http.Request, _ call) { reply(out, r) }
}

// refusing answers with an exception of DynamoDB; a transaction is cancelled, with that reason for each of its actions.
func refusing(exception, reason string) happening {
	return func(_ http.Handler, out http.ResponseWriter, r *http.Request, c call) {
		if c.operation == "TransactWriteItems" {
			reasons := strings.TrimSuffix(strings.Repeat(`{"Code":"`+reason+`","Message":"injected"},`, c.actions), ",")
			dynamotest.Refusal(http.StatusBadRequest, "TransactionCanceledException", `,"CancellationReasons":[`+reasons+`]`)(out, r)
			return
		}
		dynamotest.Refusal(http.StatusBadRequest, exception, "")(out, r)
	}
}

// tear sends the head and half of the body of an answer, and ends the connection.
func tear(next http.Handler, out http.ResponseWriter, r *http.Request, _ call) {
	whole := httptest.NewRecorder()
	next.ServeHTTP(whole, r)
	for name, values := range whole.Header() {
		out.Header()[name] = values
	}
	body := whole.Body.Bytes()
	out.Header().Set("Content-Length", strconv.Itoa(len(body)+1))
	out.WriteHeader(whole.Code)
	_, _ = out.Write(body[:len(body)/2])
	_ = http.NewResponseController(out).Flush()
	panic(http.ErrAbortHandler)
}

// queueThrottled is SQS asking for patience.
var queueThrottled = trouble{name: "throttled", happen: replying(sqstest.Throttled.Reply)}.service(queues)
