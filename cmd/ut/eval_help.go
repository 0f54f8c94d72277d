package main

// evalHelp is the help of ut eval.
const evalHelp = `eval evaluates the best checkpoint of one or more runs on held-out examples, with the metric of the
task: sequences are decoded and compared with the target, classes are compared, texts are scored by
perplexity, translations by BLEU and chrF with sacreBLEU's signatures. Accuracies have 95 %
confidence intervals (Wilson). Those of tokens and tags are too narrow: the tokens of a sequence are
not independent.

With --teacher-forced, each token of an answer is predicted from the true tokens before it.
Without --length and --mix, lengths are as in training; both are rejected for tasks that are read
from files. With --hard, every second example is a hard case, of each kind in turn: one repeated
digit and short periods for copy and reverse; a carry through all digits, one digit and a long
number, and one repeated digit in each number for addition. Other tasks reject it. The examples
are the same for every run of a task, whatever its seed.

--data evaluates on another file in the task's format: tab-separated pairs, a bAbI file, a text,
LAMBADA passages; for agreement a numpred file (the rows of numpred.test.K have K attractors), the
authors' table, or NAME.text with NAME.gold next to it; for translation also two comma-separated
file names. --errors writes the wrong answers, one per line: source, correct answer, model's answer.
With --errors - they are on the standard output, and the results on the standard error.

A run that was moved together with its data finds them; otherwise --set says where they are.

--cache mixes a language model with a continuous cache (Grave, Joulin and Usunier, 2016), a
distribution over the earlier tokens of the same text, with the share LAMBDA; the larger THETA, the
more it prefers tokens after similar states. --cache tune chooses both on the validation examples.

--diagnose analyses wrong answers: whether they end too early or too late and where the first wrong
token is; for copy, reverse and addition also which decoder head attends to the correct source
token, and how much.

` + beamHelp + "\n\n" + lengthHelp + `

Several runs are compared in a table, with steps per position (encoder, decoder), parameters and
training time. What is not a run, as in ut eval runs/*, is reported and skipped.

With --json: an object, or an array of them if several runs are named, with the fields
  version      of the program
  run          the directory
  experiment   the configuration's name
  checkpoint   update of the weights
  task         the task's name
  examples     number of examples
  lengths      their lengths: "length 40", "lengths 1..40", "lengths as in training", or the file;
               with --hard ", half of them hard cases" follows
  method       "greedy decoding", "beam search of width 4, alpha 0.6", "teacher forcing",
               "classification" or "classification of each token"
  metrics      an array of objects with "name" and "value" (null if there was nothing to measure),
               and for accuracies "correct", "total" and the interval's "low" and "high"
  confusion    of labels and tags: an object with classes (an array of names) and counts, a
               matrix: a row for each true class, a column for each answer
  spans        of tags that mark spans: an array of objects with class (the type), precision,
               recall, f1, support (number of true spans) and predicted
  notes        an array of lines with remarks
  encoder_steps, decoder_steps
               the ponder time: an object with mean and deviation of the steps per position, and
               tenths, an array of ten means: of the first tenth of the positions of every sequence,
               of the second, and so on (null if no sequence has a position there); null if the
               model has no such stack or its depth is not adaptive
  diagnosis    with --diagnose: wrong, early, late, substitute (answers), first_wrong (an array of
               ten), attention (an array of objects with right, step, head, mean, least, place) and
               over_answers (number of answers behind attention)
  exit         when positions ended, if not as trained: "confidence of at least 0.9"
  readouts     with an exit rule: extra, the mean number of readouts of a position besides that of
               its answer, and operations, the share that the rule adds to those of a pass of all
               steps
  parameters   numbers in the model
  training_seconds
               training time up to the checkpoint
  seconds      time of the evaluation, including compilation

With an exit, encoder_steps and decoder_steps are counted for every model, and for decoded answers.

` + exitHelp
