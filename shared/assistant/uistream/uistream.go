// Package uistream writes the AI SDK's UI message stream, version 1, as server-sent events (API.md §6.4;
// https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol): unnamed frames of JSON, comments while nothing happens, [DONE] at the end.
// What is said in the frames is the caller's business.
package uistream
