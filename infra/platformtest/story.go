package platformtest

import (
	"encoding/json"
	"net/http"
)

// Password is the password of everybody who signs up with [Client.SignUp].
const Password = "correct horse battery"

// Object is a JSON object of a request.
type Object map[string]any

func (o Object) String() string {
	data, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// SignUp makes an account, name@example.com, and logs in to it.
func (c *Client) SignUp(name string) (userID string) {
	c.T.Helper()
	signup := c.Do("POST", "/api/auth/signup", Object{"email": name + "@example.com", "username": name, "password": Password}.String())
	userID, _ = signup.Want(c.T, http.StatusCreated)["userId"].(string)
	c.Login(name).Want(c.T, http.StatusOK)
	return userID
}

// Login logs in to an account that SignUp has made.
func (c *Client) Login(name string) Response {
	c.T.Helper()
	return c.Do("POST", "/api/auth/login", Object{"email": name + "@example.com", "password": Password}.String())
}

// NewProject creates a project and answers its id.
func (c *Client) NewProject(name string, fields Object) string {
	c.T.Helper()
	body := Object{"name": name}
	for key, value := range fields {
		body[key] = value
	}
	id, _ := c.Do("POST", "/api/projects", body.String()).Want(c.T, http.StatusCreated)["id"].(string)
	return id
}

// Save writes a text file and answers its record.
func (c *Client) Save(project, path, content string, header ...string) Response {
	c.T.Helper()
	return c.Do("POST", "/api/projects/"+project+"/files", Object{"path": path, "content": content}.String(), header...)
}

// HookSecret is the secret of webhooks made with [Client.Subscribe].
const HookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" //nolint:gosec // a test's

// Subscribe makes a webhook, for every event unless fields say otherwise, and answers its id.
func (c *Client) Subscribe(url string, fields Object) string {
	c.T.Helper()
	body := Object{"url": url, "events": []string{"*"}, "secret": HookSecret}
	for key, value := range fields {
		body[key] = value
	}
	id, _ := c.Do("POST", "/api/webhooks", body.String()).Want(c.T, http.StatusCreated)["id"].(string)
	return id
}

// Feed is all of a project's events by their ids, as the feed shows them.
func (c *Client) Feed(project string) map[string]json.RawMessage {
	c.T.Helper()
	all := map[string]json.RawMessage{}
	for cursor := ""; ; {
		var page struct {
			Events     []json.RawMessage
			NextCursor string
		}
		a := c.Do("GET", "/api/projects/"+project+"/events?limit=100"+cursor, "")
		a.Want(c.T, http.StatusOK)
		if err := json.Unmarshal(a.Body, &page); err != nil {
			c.T.Fatal(err)
		}
		for _, raw := range page.Events {
			var payload struct{ ID string }
			if err := json.Unmarshal(raw, &payload); err != nil {
				c.T.Fatal(err)
			}
			all[payload.ID] = raw
		}
		if page.NextCursor == "" {
			return all
		}
		cursor = "&cursor=" + page.NextCursor
	}
}
