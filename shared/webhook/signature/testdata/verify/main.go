package main

import "crypto/hmac"
import "crypto/sha256"
import "fmt"
import "io"
import "os"

func main() {
	secret := os.Getenv("WEBHOOK_SECRET")
	mac := hmac.New(sha256.New, []byte(secret))
	_, err := io.Copy(mac, os.Stdin) // the raw bytes of the body, before any parsing
	want := fmt.Sprintf("sha256=%x", mac.Sum(nil))
	if err != nil || secret == "" || !hmac.Equal([]byte(want), []byte(os.Args[1])) {
		os.Exit(1)
	}
}
