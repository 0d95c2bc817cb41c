package awsclient

import "net/http"

// Transport returns the transport of a client that this package made.
func Transport(c *http.Client) *http.Transport { return c.Transport.(plainBodies).Transport }
