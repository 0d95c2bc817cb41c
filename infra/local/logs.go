package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/lmittmann/tint"
	"golang.org/x/term"
)

// newLogger returns a logger that writes text or JSON. Text has colors on a terminal.
func (s settings) newLogger(w io.Writer) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(s.LogLevel)); err != nil {
		return nil, fmt.Errorf("LOG_LEVEL=%s: must be debug, info, warn or error", s.LogLevel)
	}
	switch s.LogFormat {
	case "json":
		return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level})), nil
	case "text":
	default:
		return nil, fmt.Errorf("LOG_FORMAT=%s: must be text or json", s.LogFormat)
	}
	return slog.New(tint.NewTextHandler(w, &tint.Options{
		Level: level, TimeFormat: "15:04:05.000", NoColor: !isTerminal(w) || s.NoColor != "",
	})), nil
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
