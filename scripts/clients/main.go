// Command clients tests ut serve with OpenAI's own Go client: it lists the models, completes, samples, streams, and makes a mistake. Its
// argument is the address of a server of models/reverse. scripts/clients.sh runs it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

func main() {
	if err := run(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "clients:", err)
		os.Exit(1)
	}
	fmt.Println("Go: models listed, completed, sampled, streamed; a mistake is an error with its field")
}

func run(ctx context.Context, address string) error {
	client := openai.NewClient(option.WithBaseURL("http://"+address+"/v1"), option.WithAPIKey("unused"))
	models, err := client.Models.List(ctx)
	if err != nil || len(models.Data) != 1 || models.Data[0].ID != "reverse" {
		return fmt.Errorf("models %+v, %w", models, err)
	}
	ask := openai.CompletionNewParams{Model: "reverse", Prompt: openai.CompletionNewParamsPromptUnion{OfArrayOfStrings: []string{"31415", "27"}}}
	answer, err := client.Completions.New(ctx, ask)
	if err != nil || len(answer.Choices) != 2 || answer.Choices[0].Text != "51413" || answer.Choices[1].Text != "72" || answer.Choices[1].FinishReason != "stop" || answer.Usage.PromptTokens != 7 {
		return fmt.Errorf("completion %+v, %w", answer, err)
	}
	ask.Temperature, ask.TopP, ask.N, ask.Seed, ask.MaxTokens = openai.Float(1), openai.Float(0.9), openai.Int(3), openai.Int(7), openai.Int(4)
	if answer, err := client.Completions.New(ctx, ask); err != nil || len(answer.Choices) != 6 || answer.Choices[0].FinishReason != "length" {
		return fmt.Errorf("samples %+v, %w", answer, err)
	}
	stream := client.Completions.NewStreaming(ctx, openai.CompletionNewParams{Model: "reverse", Prompt: openai.CompletionNewParamsPromptUnion{OfString: openai.String("31415")}})
	text, pieces := "", 0
	for stream.Next() {
		for _, c := range stream.Current().Choices {
			text += c.Text
		}
		pieces++
	}
	if err := stream.Err(); err != nil || text != "51413" || pieces < 5 {
		return fmt.Errorf("streamed %q in %d pieces, %w", text, pieces, err)
	}
	var problem *openai.Error
	if _, err := client.Completions.New(ctx, openai.CompletionNewParams{Model: "reverse", Prompt: openai.CompletionNewParamsPromptUnion{OfString: openai.String("x")}}); !errors.As(err, &problem) || problem.StatusCode != 400 || problem.Param != "prompt" {
		return fmt.Errorf("a mistake: %w", err)
	}
	return nil
}
