// Package gateway is Amazon API Gateway's REST proxy for one machine: a regional REST API whose methods are Lambda
// proxy integrations. It converts an HTTP request into the event that a function gets on AWS (payload format 1.0),
// invokes the function, and converts its response, buffered or streamed, into the HTTP response. Its own errors are the
// API's gateway responses, with AWS's types, status codes and messages.
//
// What belongs here: routing, the event, the response formats, AWS's limits on both, gateway responses, time-outs and
// the certificate of the HTTPS port. What may not enter: starting functions (see runtime), reading templates
// (see stack), and anything that only one project needs.
//
// # Paths
//
// The API is at the root of the port, as behind a custom domain with an empty base path: the route /api/me is
// http://localhost:3000/api/me. As on AWS, requestContext.domainName is the Host header (with its port, so that a
// same-origin check works on a laptop), and requestContext.path is the path of the request. A function finds its public
// base URL, here and on AWS, as
//
//	https://<requestContext.domainName><requestContext.path without the suffix path>
//
// with the scheme of X-Forwarded-Proto.
//
// # Decisions where AWS's documentation is not specific
//
//   - path and pathParameters are percent-encoded, as in the request line. One trailing slash is ignored
//     for routing and kept in path. Query strings are decoded, '+' included.
//   - The resource is chosen by the path alone (literal before {param} before {proxy+}, with backtracking). Then its
//     method is looked up, before ANY. If the resource does not have the method, no other resource is tried.
//   - Empty, "." and ".." segments (also percent-encoded) never match. There is no redirect and no cleaning. AWS
//     joins leading slashes; a function that compares paths must not depend on it.
//   - A body that is not UTF-8 is passed in base64, even if the API has no binary media types. AWS would damage it.
//   - The client's address is the address of the TCP peer. X-Forwarded-For is passed on with the peer appended, and
//     never trusted.
//   - A client that disconnects does not stop its function. The rest of the function's response is read and
//     discarded.
//   - Requests that net/http refuses get an error in plain text.
//   - The event and the invocation have the same request id, so that the gateway and the function log the same id. On
//     AWS the two ids differ.
package gateway
