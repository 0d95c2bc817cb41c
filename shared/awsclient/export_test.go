package awsclient

import "net/http"

// Transport is what a client of this package sends with.
func Transport(c *http.Client) *http.Transport { return c.Transport.(plainBodies).Transport }
