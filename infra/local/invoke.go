package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
)

// invoke sends an event file ("-" is standard input) to a function of a running platform, as `aws lambda invoke` does,
// and prints the response. It returns an error if the function fails.
func invoke(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := newFlags("invoke", "usage: local invoke [-endpoint URL] FUNCTION EVENT\n", stderr)
	endpoint := flags.String("endpoint", "http://127.0.0.1:4566", "the platform's AWS port")
	if err := parse(flags, args, 2); err != nil {
		return err
	}
	event, err := readEvent(flags.Arg(1))
	if err != nil {
		return err
	}
	address := *endpoint + "/2015-03-31/functions/" + url.PathEscape(flags.Arg(0)) + "/invocations"
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(event))
	if err != nil {
		return fmt.Errorf("endpoint: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("is the platform running? %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("read the response: %w", err)
	}
	var refusal struct{ Message string } // Lambda uses both Message and message
	if response.StatusCode >= http.StatusBadRequest && json.Unmarshal(body, &refusal) == nil && refusal.Message != "" {
		return fmt.Errorf("%s: %s: %s", flags.Arg(0), response.Status, refusal.Message)
	}
	if body = bytes.TrimRight(body, "\n"); len(body) > 0 {
		_, _ = fmt.Fprintf(stdout, "%s\n", body)
	}
	if kind := response.Header.Get("X-Amz-Function-Error"); kind != "" {
		return fmt.Errorf("%s: function error: %s", flags.Arg(0), kind)
	}
	if response.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%s: %s", flags.Arg(0), response.Status)
	}
	return nil
}

func readEvent(path string) ([]byte, error) {
	if path == "-" {
		event, err := io.ReadAll(os.Stdin)
		if err != nil {
			return nil, fmt.Errorf("standard input: %w", err)
		}
		return event, nil
	}
	event, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("event: %w", err)
	}
	return event, nil
}
