package dynamodb

import (
	"hash/crc32"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

func TestWireHeaders(t *testing.T) {
	t.Parallel()
	db := withTables(t)
	for _, body := range []string{`{"TableName":"hash","Key":{"pk":{"S":"a"}}}`, `{"TableName":"none"}`} {
		got := call(t, db, "GetItem", body)
		if want := strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte(got.raw))), 10); got.header.Get("X-Amz-Crc32") != want {
			t.Errorf("checksum %s, want %s", got.header.Get("X-Amz-Crc32"), want)
		}
		if id := got.header.Get("X-Amzn-Requestid"); len(id) != 52 {
			t.Errorf("request id %q", id)
		}
		if got.header.Get("Content-Type") != contentType || got.header.Get("Content-Length") != strconv.Itoa(len(got.raw)) {
			t.Errorf("headers %v", got.header)
		}
	}
}

func TestWireRefusals(t *testing.T) {
	t.Parallel()
	db := withTables(t)
	for _, test := range []struct {
		name   string
		change func(*http.Request)
		status int
		want   string
	}{
		{"no credentials", func(r *http.Request) { r.Header.Del("Authorization") }, 400,
			`{"__type":"com.amazon.coral.service#MissingAuthenticationTokenException","message":"Request is missing Authentication Token"}`},
		{"basic credentials", func(r *http.Request) { r.SetBasicAuth("a", "b") }, 400,
			`{"__type":"com.amazon.coral.service#MissingAuthenticationTokenException","message":"Request is missing Authentication Token"}`},
		{"half a signature", func(r *http.Request) { r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=a") }, 400,
			`{"__type":"com.amazon.coral.service#IncompleteSignatureException","message":"Authorization header requires 'Signature' parameter. Authorization header requires 'SignedHeaders' parameter. Authorization=AWS4-HMAC-SHA256 Credential=a"}`},
		{"no date", func(r *http.Request) { r.Header.Del("X-Amz-Date") }, 400,
			`{"__type":"com.amazon.coral.service#IncompleteSignatureException","message":"Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. Authorization=` + testAuthorization + `"}`},
		{"no target", func(r *http.Request) { r.Header.Del("X-Amz-Target") }, 400, `{"__type":"com.amazon.coral.service#UnknownOperationException"}`},
		{"another version", func(r *http.Request) { r.Header.Set("X-Amz-Target", "DynamoDB_20111205.GetItem") }, 400, `{"__type":"com.amazon.coral.service#UnknownOperationException"}`},
		{"another media type", func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, 404, "<UnknownOperationException/>\n"},
		{"another method", func(r *http.Request) { r.Method = http.MethodPut }, 404, "<UnknownOperationException/>\n"},
		{"health", func(r *http.Request) { r.Method = http.MethodGet }, 200, "healthy: dynamodb.us-east-1.amazonaws.com "},
	} {
		request := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(`{"TableName":"hash","Key":{"pk":{"S":"a"}}}`))
		request.Header.Set("Content-Type", contentType)
		request.Header.Set("X-Amz-Target", targetPrefix+"GetItem")
		request.Header.Set("X-Amz-Date", "20261120T120000Z")
		request.Header.Set("Authorization", testAuthorization)
		test.change(request)
		if got := send(t, db, request); got.status != test.status || got.raw != test.want {
			t.Errorf("%s: got %d %s, want %d %s", test.name, got.status, got.raw, test.status, test.want)
		}
	}
}

func TestRequestTooLarge(t *testing.T) {
	t.Parallel()
	db := withTables(t)
	if got := call(t, db, "PutItem", strings.Repeat(" ", maxRequestBytes+1)); got.status != http.StatusRequestEntityTooLarge {
		t.Errorf("got %d", got.status)
	}
}

// A refused parameter that is null is not there.
func TestNullParameters(t *testing.T) {
	t.Parallel()
	db := withTables(t)
	must(t, db, "PutItem", `{"TableName":"hash","Item":{"pk":{"S":"a"}},"Expected":null,"ConditionExpression":null,"ReturnValues":null,"Unknown":{"x":[1]}}`)
	must(t, db, "GetItem", `{"TableName":"hash","Key":{"pk":{"S":"a"}},"AttributesToGet":null,"ConsistentRead":null}`)
}
