package id_test

import (
	"testing"

	"devplatform/shared/id"
)

func TestToken(t *testing.T) {
	t.Parallel()
	const workspaceID = "ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"
	token := id.NewToken(workspaceID)
	if got, ok := id.Workspace.OfToken(token); !ok || got != workspaceID {
		t.Errorf("the token %s belongs to %s, %t, want %s", token, got, ok, workspaceID)
	}
	if id.NewToken(workspaceID) == token || id.HashToken(token) == id.HashToken(id.NewToken(workspaceID)) {
		t.Error("two tokens or their hashes are equal")
	}
	for _, text := range []string{"", token[:26], "x" + token, "01k9zq3v7m8t5xw2abcdefghjk" + token[26:]} {
		if got, ok := id.Workspace.OfToken(text); ok {
			t.Errorf("the text %q belongs to %s, want none", text, got)
		}
	}
}
