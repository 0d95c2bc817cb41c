package platformtest

import (
	"encoding/json"
	"net/http"
)

// Password is the password of the users that Client.SignUp creates.
const Password = "correct horse battery"

// Object is a JSON object in a request body.
type Object map[string]any

// String returns the object as JSON.
func (o Object) String() string {
	data, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// SignUp creates a user with the username name and the e-mail address name@example.com, logs in, and returns the user's
// ID.
func (c *Client) SignUp(name string) (userID string) {
	c.T.Helper()
	body := Object{"email": name + "@example.com", "username": name, "password": Password}
	response := c.Do("POST", "/api/auth/signup", body.String())
	userID, _ = response.Want(c.T, http.StatusCreated)["userId"].(string)
	c.Login(name).Want(c.T, http.StatusOK)
	return userID
}

// Login logs in as a user that SignUp created.
func (c *Client) Login(name string) Response {
	c.T.Helper()
	return c.Do("POST", "/api/auth/login", Object{"email": name + "@example.com", "password": Password}.String())
}

// AddMember makes another user a member of a workspace: the user is invited, and accepts. It returns the user's ID.
func (c *Client) AddMember(workspaceID string, user *Client, username, role string) (userID string) {
	c.T.Helper()
	body := Object{"username": username, "role": role}.String()
	invited := c.Do("POST", "/api/workspaces/"+workspaceID+"/invitations", body).Want(c.T, http.StatusCreated)
	invitationID, _ := invited["id"].(string)
	joined := user.Do("POST", "/api/invitations/"+invitationID+"/accept", "").Want(c.T, http.StatusOK)
	userID, _ = joined["userId"].(string)
	return userID
}

// NewProject creates a project with these additional fields and returns its ID.
func (c *Client) NewProject(name string, fields Object) string {
	c.T.Helper()
	body := Object{"name": name}
	for key, value := range fields {
		body[key] = value
	}
	id, _ := c.Do("POST", "/api/projects", body.String()).Want(c.T, http.StatusCreated)["id"].(string)
	return id
}

// Save creates or replaces a text file.
func (c *Client) Save(projectID, path, content string, headers ...string) Response {
	c.T.Helper()
	body := Object{"path": path, "content": content}
	return c.Do("POST", "/api/projects/"+projectID+"/files", body.String(), headers...)
}

// HookSecret is the secret of the webhooks that Client.Subscribe creates.
const HookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" //nolint:gosec // only for tests

// Subscribe creates a webhook and returns its ID. The webhook subscribes to all events, unless fields contains other
// events.
func (c *Client) Subscribe(url string, fields Object) string {
	c.T.Helper()
	body := Object{"url": url, "events": []string{"*"}, "secret": HookSecret}
	for key, value := range fields {
		body[key] = value
	}
	id, _ := c.Do("POST", "/api/webhooks", body.String()).Want(c.T, http.StatusCreated)["id"].(string)
	return id
}

// Feed reads all pages of a project's event feed and returns the events by ID.
func (c *Client) Feed(projectID string) map[string]json.RawMessage {
	c.T.Helper()
	events := map[string]json.RawMessage{}
	for cursor := ""; ; {
		var page struct {
			Events     []json.RawMessage
			NextCursor string
		}
		response := c.Do("GET", "/api/projects/"+projectID+"/events?limit=100"+cursor, "")
		response.Want(c.T, http.StatusOK)
		if err := json.Unmarshal(response.Body, &page); err != nil {
			c.T.Fatal(err)
		}
		for _, raw := range page.Events {
			var payload struct{ ID string }
			if err := json.Unmarshal(raw, &payload); err != nil {
				c.T.Fatal(err)
			}
			events[payload.ID] = raw
		}
		if page.NextCursor == "" {
			return events
		}
		cursor = "&cursor=" + page.NextCursor
	}
}
