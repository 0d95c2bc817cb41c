// Package gateway is Amazon API Gateway's REST proxy for one machine: a regional REST API whose methods are Lambda proxy
// integrations. It turns an HTTP request into the event that a function gets on AWS (payload format 1.0), invokes the
// function, and turns its answer, buffered or streamed, into the HTTP response. What it refuses itself it answers through
// the API's gateway responses, with AWS's types, status codes and messages.
//
// What belongs here: routing, the event, the response formats, AWS's limits on both, gateway responses, and the listener's
// manners (time-outs, TLS). What may not enter: starting functions (see runtime), reading templates (see stack), and
// anything that only one project needs.
//
// # Where the API stands
//
// Requests come to the root of the port, as behind a custom domain with an empty base path: a route /api/me answers
// http://localhost:3000/api/me. As on AWS, requestContext.domainName is then the Host that the client asked for (with its
// port, so that a same-origin check holds on a laptop), and requestContext.path is the path that the client asked for. A
// function finds its public base URL, here and on AWS, as
//
//	https://<requestContext.domainName><requestContext.path without the suffix path>
//
// with the scheme of X-Forwarded-Proto. [Options.StageInPath] gives the execute-api form instead: the first segment is the
// stage, requestContext.path keeps it, path does not.
//
// # Decisions where AWS says little
//
//   - path and pathParameters hold the bytes of the request line: nothing is decoded, one trailing slash is ignored for
//     routing and kept in path. Query strings are decoded, '+' included.
//   - The resource is chosen by path alone (literal before {param} before {proxy+}, with backtracking); then the method is
//     looked up on it, before ANY. A resource without the method is refused: no other resource is tried.
//   - Empty, "." and ".." segments (also percent-encoded) never match: no redirect, no cleaning. AWS joins leading slashes;
//     a function that compares paths must not depend on it.
//   - A body that is not UTF-8 is passed in base64 even where no binary media type matches; AWS would damage it.
//   - The client's address is that of the TCP peer. X-Forwarded-For is passed on with the peer appended, and never believed.
//   - A client that leaves does not stop its function, buffered or streamed: the answer is read to its end and dropped.
//   - What net/http can't read as a request is refused in the API's shape on plain connections; over TLS it is refused as text.
//   - The request id of the event is also the invocation's id, so that one id leads through gateway log, function log and
//     response. On AWS they differ.
package gateway
