# SPDX-License-Identifier: MIT
# fish completion for dynoctl

function __dynoctl_settings
    printf '%s\n' $__dynoctl_values $__dynoctl_keys
end

function __dynoctl_data
    printf '%s\t%s\n' builtin:shapes 'drawn shapes' builtin:masks 'drawn shapes with the class of each pixel' builtin:waves 'sequences of differing length' builtin:poses 'drawn heads: yaw, pitch, roll' synthetic: 'noise made on the device: HxWxC'
    __fish_complete_path (commandline -ct)
end

function __dynoctl_option
    complete -c dynoctl -n "__fish_seen_subcommand_from $argv[1]" $argv[2..-1]
end

set -l job 'plan profile train tune lr queue'

complete -c dynoctl -f
# Lists of words, written by tests/dist/completions --update.
set -g __dynoctl_verbs devices sensors watch presets inspect convert model plan profile train tune lr quick predict evaluate save serve diagnose runs queue export bench kernels
set -g __dynoctl_models simplecnn resnet18 resnet34 resnet50 resnet101 resnext50_32x4d mobilenetv2 mobilenet_v3_small mobilenet_v3_large efficientnet_b0 efficientnet_v2_s densenet121 regnet_x_400mf regnet_y_400mf convnext_tiny vit_tiny_patch16_224 vit_small_patch16_224 vit_b_16 unet_small unet_resnet18 unet_resnet34 fcn_resnet50 deeplabv3_resnet50 lraspp_mobilenet_v3_large headpose_resnet18 headpose_resnet50 mlp cnnlstm lstm_stack gru_stack cnn1d cnn1d_dilated wavenet
set -g __dynoctl_presets this-gpu rtx3060 rtx3080 rtx3090 rtx4060 rtx4090 t4 v100 a100
set -g __dynoctl_formats keyfile json pytorch lightning accelerate trainingarguments timm ultralytics deepspeed tensorflow torchrun slurm csv png svg pdf tensorboard trace trackio mlflow
set -g __dynoctl_workloads simplecnn32 simplecnn224 resnet18 resnet50 mobilenetv2 efficientnet_b0 densenet121 convnext_tiny vit_small vit_b_16 unet_resnet34 deeplabv3_resnet50 cnnlstm
set -g __dynoctl_keys epochs= batch_size= accumulate= workers= threads= loader.nice= prefetch= lr= head_lr_factor= layer_decay= momentum= weight_decay= warmup_epochs= schedule_epochs= label_smoothing= clip_norm= clip_value= ema_decay= early_stop.patience= early_stop.min_delta= best_metric= model.width= model.dropout= model.stochastic_depth= model.freeze= loss.focal= loss.dice= loss.weights= image_size= augment.crop= augment.crop_ratio= augment.shift= augment.rotate= augment.brightness= augment.contrast= augment.saturation= augment.hue= augment.noise= augment.erase= augment.time_mask= augment.time_shift= augment.mixup= augment.cutmix= data.val_split= data.test_split= data.folds= data.fold= data.group_column= data.max_bad= vram_budget= exchange.bucket= seed= checkpoint_minutes=
set -g __dynoctl_values amp=true amp=false \
    pinned=true pinned=false \
    cache=true cache=false \
    persistent_workers=true persistent_workers=false \
    optimizer=sgd optimizer=adamw optimizer=adam optimizer=rmsprop optimizer=lion \
    weight_decay.norms=true weight_decay.norms=false \
    schedule=constant schedule=cosine schedule=step \
    loss.smooth_l1=true loss.smooth_l1=false \
    loss.class_weights=none loss.class_weights=balanced \
    augment.flip=true augment.flip=false \
    augment.flip_vertical=true augment.flip_vertical=false \
    augment.crop_from=sample augment.crop_from=source \
    augment.pad=zero augment.pad=reflect \
    data.shuffle=true data.shuffle=false \
    data.balance=none data.balance=sampling \
    data.normalise=false data.normalise=true data.normalise=weights \
    data.links=true data.links=false \
    data.one_class=true data.one_class=false \
    data.task=auto data.task=classes data.task=values data.task=labels data.task=pixels \
    data.layout=auto data.layout=nhwc data.layout=nchw \
    checkpointing=true checkpointing=false \
    memory.shrink=true memory.shrink=false \
    exchange.half=true exchange.half=false \
    autotune=true autotune=false \
    deterministic=true deterministic=false \
    log.trackio=true log.trackio=false \
    log.mlflow=true log.mlflow=false
complete -c dynoctl -n __fish_use_subcommand -a devices -d 'List the Vulkan devices'
complete -c dynoctl -n __fish_use_subcommand -a sensors -d 'Show the present load of a GPU and the machine'
complete -c dynoctl -n __fish_use_subcommand -a watch -d 'Watch a run and the machine, live in the terminal'
complete -c dynoctl -n __fish_use_subcommand -a presets -d 'List the GPU presets, or show one'
complete -c dynoctl -n __fish_use_subcommand -a inspect -d 'Show the contents of a data set'
complete -c dynoctl -n __fish_use_subcommand -a convert -d 'Pack a data set into one file'
complete -c dynoctl -n __fish_use_subcommand -a model -d 'List the models, or the layers of one'
complete -c dynoctl -n __fish_use_subcommand -a plan -d 'Plan device memory by component, before any run'
complete -c dynoctl -n __fish_use_subcommand -a profile -d 'Show the time of a step, layer by layer'
complete -c dynoctl -n __fish_use_subcommand -a train -d 'Train'
complete -c dynoctl -n __fish_use_subcommand -a tune -d 'Find the settings that train fastest within the memory'
complete -c dynoctl -n __fish_use_subcommand -a lr -d 'Suggest a learning rate, in under a minute'
complete -c dynoctl -n __fish_use_subcommand -a quick -d 'Measure this machine, in under a minute'
complete -c dynoctl -n __fish_use_subcommand -a predict -d 'Predict samples with trained weights'
complete -c dynoctl -n __fish_use_subcommand -a evaluate -d 'Measure trained weights on labelled samples'
complete -c dynoctl -n __fish_use_subcommand -a save -d 'Save a trained model for other programs'
complete -c dynoctl -n __fish_use_subcommand -a serve -d 'Serve trained weights over HTTP'
complete -c dynoctl -n __fish_use_subcommand -a diagnose -d 'Show what limited a run, and what to change'
complete -c dynoctl -n __fish_use_subcommand -a runs -d 'List, show, compare, rename or delete the runs in the history'
complete -c dynoctl -n __fish_use_subcommand -a queue -d 'Run jobs with frozen settings, one after another'
complete -c dynoctl -n __fish_use_subcommand -a export -d 'Export settings to other programs, or curves of a run'
complete -c dynoctl -n __fish_use_subcommand -a bench -d 'Measure training steps on data on the device'
complete -c dynoctl -n __fish_use_subcommand -a kernels -d 'List kernel variants, and test them'
# End of the lists.
complete -c dynoctl -n __fish_use_subcommand -s V -l version -d 'Show the version'
complete -c dynoctl -s h -l help -d 'Show help'

__dynoctl_option "$__dynoctl_verbs" -l json -d 'JSON objects on standard output'
__dynoctl_option "$__dynoctl_verbs" -l state-dir -x -a '(__fish_complete_directories)' \
    -d 'Keep caches, own presets and the history here'
__dynoctl_option 'devices sensors watch plan profile train tune lr queue quick predict evaluate serve bench kernels' -l device -x -d 'Device by its number'
__dynoctl_option 'inspect convert plan profile train tune lr queue evaluate' -l targets -r -F -d 'Targets of an X.npy'

__dynoctl_option quick -s p -l preset -x -a "$__dynoctl_presets" -d 'Compare with this preset'
__dynoctl_option quick -l seconds -x -d 'Of each measurement'
__dynoctl_option quick -l no-cpu -d 'Leave out the comparison with the CPU'
__dynoctl_option diagnose -l checklist -d 'Every item: done, open or unknown'
__dynoctl_option diagnose -l run -x -a '(__fish_complete_directories)' -d 'Folder of the run'
__dynoctl_option 'predict evaluate' -s r -l run -x -a '(__fish_complete_directories)' -d 'Folder of the run'
__dynoctl_option 'predict evaluate' -s w -l weights -r -F -d 'Weights file'
__dynoctl_option 'predict evaluate' -s m -l model -x -a "$__dynoctl_models" -d 'Model of the weights'
__dynoctl_option 'predict evaluate' -s d -l data -r -F -a '(__dynoctl_data)' -d 'The data set'
__dynoctl_option 'predict evaluate' -s b -l batch -x -d 'Samples at once'
__dynoctl_option 'predict evaluate' -l image-size -x -d 'Height and width of images'
__dynoctl_option 'predict evaluate' -l amp -d 'Compute in fp16'
__dynoctl_option 'predict evaluate' -l mirror -d 'Average with the mirror image'
__dynoctl_option 'predict evaluate' -l workers -x -d 'Threads that decode'
__dynoctl_option serve -s r -l run -x -a '(__fish_complete_directories)' -d 'Folder of a run, or NAME=RUN'
__dynoctl_option serve -s l -l listen -x -d 'Address and port'
__dynoctl_option serve -l token-file -r -F -d 'Clients must send its first line'
__dynoctl_option serve -l tls-certificate -r -F -d 'Serve HTTPS with this certificate'
__dynoctl_option serve -l tls-key -r -F -d 'Key of the certificate'
__dynoctl_option serve -l no-token -d 'Let other machines in without a token'
__dynoctl_option serve -s b -l max-batch -x -d 'Samples of a batch'
__dynoctl_option serve -l max-delay-us -x -d 'Microseconds to wait for a full batch'
__dynoctl_option serve -l queue -x -d 'Requests of a model at a time'
__dynoctl_option serve -l max-body -x -d 'MiB of a request'
__dynoctl_option serve -l timeout -x -d 'Seconds for a request to arrive'
__dynoctl_option serve -l image-size -x -d 'Height and width of images'
__dynoctl_option serve -l amp -d 'Compute in fp16'
__dynoctl_option serve -l workers -x -d 'Threads that decode'
__dynoctl_option save -s r -l run -x -a '(__fish_complete_directories)' -d 'Folder of a run'
__dynoctl_option save -s w -l weights -r -F -d 'Weights file of a run'
__dynoctl_option save -l to -x -a 'onnx int8' -d Format
__dynoctl_option save -s o -l out -r -F -d 'The file'
__dynoctl_option save -s d -l data -r -F -a '(__dynoctl_data)' -d 'What to measure int8 on'
__dynoctl_option save -l half -d 'Weights and arithmetic in float16'
__dynoctl_option save -l keep-batchnorm -d 'Batch norm as operators of its own'
__dynoctl_option save -l normalise -d "The input's normalisation inside"
__dynoctl_option save -s f -l force -d 'Write over what is there'
__dynoctl_option predict -s k -l top -x -d 'Classes per sample'
__dynoctl_option predict -l csv -d 'A table as CSV'
__dynoctl_option predict -l masks -r -d 'Folder for masks of class ids'
__dynoctl_option predict -l mask-size -x -a 'image network' -d 'Size of the masks'
__dynoctl_option evaluate -l part -x -a 'all training validation' -d 'Samples of this part'
__dynoctl_option evaluate -l worst -x -d 'Worst samples to list'
__dynoctl_option evaluate -l table -r -F -d 'Write truth, prediction and loss of each sample'
__dynoctl_option evaluate -l calibrate -d 'Write temperature and thresholds to the weights'
__dynoctl_option watch -l once -d 'Print the present state once, and end'
__dynoctl_option devices -l measure -d 'Measure copying and multiplying'

__dynoctl_option presets -F -a "$__dynoctl_presets"

__dynoctl_option model -a '$__dynoctl_models'
__dynoctl_option model -s s -l size -x -d 'Input, height x width x channels'
__dynoctl_option model -l classes -x -d 'Outputs'
__dynoctl_option model -s b -l batch -x -d 'Batch size'
__dynoctl_option model -l width -x -d 'Scales the channels'
__dynoctl_option model -l layer-decay -x -d 'Also the factors on the learning rates of layers'
__dynoctl_option model -l amp -d 'Sizes with mixed precision'
__dynoctl_option inspect -a '(__dynoctl_data)'
__dynoctl_option convert -a '(__dynoctl_data)'
__dynoctl_option convert -l size -x -d 'Scale images down to this shorter side'
__dynoctl_option convert -s s -l set -x -a '(__dynoctl_settings)' -d 'How the data set is read'
__dynoctl_option convert -l force -d 'Replace the file where it is there'
__dynoctl_option convert -l no-measure -d 'Do not measure what it gains'
__dynoctl_option inspect -l deep -d 'Decode every sample, and list those that cannot be read'
__dynoctl_option inspect -l preview -r -F -d 'Draw the examples into a PNG'
__dynoctl_option inspect -s s -l set -x -a '(__dynoctl_settings)' -d 'One setting of the preview'

__dynoctl_option "$job bench" -s d -l data -x -a '(__dynoctl_data)' -d 'What to train on'
__dynoctl_option "$job kernels" -s m -l model -x -a "$__dynoctl_models" -d Model
__dynoctl_option $job -s p -l preset -r -F -a "$__dynoctl_presets" -d 'GPU preset by name or file'
__dynoctl_option $job -l level -x -a 'safe recommended max' -d "The preset's level"
__dynoctl_option "$job export" -l settings -r -F -d 'Settings file'
__dynoctl_option "$job bench" -s s -l set -x -a '(__dynoctl_settings)' -d 'One setting'
__dynoctl_option $job -s e -l epochs -x -d 'Epochs to train'
__dynoctl_option $job -l freeze -x -d 'Layers that stay as they are'
__dynoctl_option $job -l seed -x -d 'Seed of start values, order and augmentation'

__dynoctl_option 'train tune lr queue' -s o -l out -x -a '(__fish_complete_directories)' -d 'Output folder'
__dynoctl_option 'train tune lr export' -s f -l force -d 'Write over what is there'
__dynoctl_option 'train tune lr queue' -s q -l quiet -d 'Only errors and warnings'
__dynoctl_option 'train queue' -l devices -x -a all -d 'Train on several devices, a process each'
__dynoctl_option train -l folds -x -d 'Cross-validate, in N runs'
__dynoctl_option train -l no-out -d 'Keep nothing'
__dynoctl_option 'train lr queue' -l weights -r -F -d 'Start from these weights'
__dynoctl_option train -l save-weights -r -F -d 'Write the weights here at the end'
__dynoctl_option train -l resume -r -F -d 'Resume a stopped run: its folder or its checkpoint'
__dynoctl_option 'train lr queue bench' -l steps -x -d 'Steps'

__dynoctl_option tune -l for -x -a 'speed accuracy loss' -d 'The goal of the search'
__dynoctl_option tune -l trials -x -d 'With --for, trials at most'
__dynoctl_option tune -l seeds -x -d 'With --for, seeds of the final comparison'
__dynoctl_option tune -l at-once -x -d 'With --for, trials at the same time'
__dynoctl_option tune -l over -x -d 'With --for, a setting to search' -a '(__dynoctl_settings)'
__dynoctl_option tune -l minutes -x -d 'How long to search in all'
__dynoctl_option lr -l minutes -x -d 'How long to test at most'
__dynoctl_option lr -l from -x -d 'Learning rate of the first step'
__dynoctl_option lr -l to -x -d 'And of the last'
__dynoctl_option tune -l goal -x -d 'What validation should reach first, such as accuracy=0.9'
__dynoctl_option tune -l resume -x -a '(__fish_complete_directories)' -d 'Resume the trials of an earlier search'

__dynoctl_option queue -a 'list add start stop retry remove clear'
__dynoctl_option 'train queue' -l name -x -d 'Name of the run'
__dynoctl_option queue -l stop-on-failure -d 'Stop after the first job that fails'

__dynoctl_option runs -a 'list show compare rename delete import'
__dynoctl_option runs -s m -l model -x -a "$__dynoctl_models" -d 'Only runs of this model'
__dynoctl_option runs -s d -l data -x -d 'Runs whose data set holds this text'
__dynoctl_option runs -s n -l limit -x -d 'Only the newest N'
__dynoctl_option runs -l searches -d 'List searches instead'
__dynoctl_option runs -l files -d "Delete also the files in the run's folder"

__dynoctl_option export -l run -x -a '(__fish_complete_directories)' -d 'Folder of a run'
__dynoctl_option export -s t -l to -x -d Format \
    -a "$__dynoctl_formats"
__dynoctl_option export -s o -l out -r -F -d 'File to write'
__dynoctl_option export -s l -l list -d 'List the formats'

__dynoctl_option bench -s w -l workload -x -a "$__dynoctl_workloads" -d 'Workloads, by commas'
__dynoctl_option 'bench kernels' -s b -l batch -x -d 'Batch size'
__dynoctl_option bench -l mode -x -a 'fp32 amp' -d 'fp32 or amp, or both by a comma'
__dynoctl_option bench -l kernels -d 'Time every dispatch of a step instead'
__dynoctl_option bench -l trace -r -F -d 'The dispatches of a step as a trace'
__dynoctl_option bench -l rows -x -d 'With --kernels: the slowest N dispatches only'
__dynoctl_option bench -l predict -d 'Measure prediction instead of training'
__dynoctl_option bench -l first-step -d 'Also seconds to the end of the first step'
__dynoctl_option bench -l no-autotune -d 'Take kernel variants without timing them'
__dynoctl_option bench -l tune-seconds -x -d 'Time kernel variants for N seconds a row at most'
__dynoctl_option tune -l ranks -x -d 'For so many processes, a device each'
__dynoctl_option tune -l hosts -x -d 'With --ranks: the machines that they are on'
__dynoctl_option plan -l ranks -x -d 'Also for N processes, a device each'
__dynoctl_option plan -l hosts -x -d 'With --ranks: the machines that they are on'
__dynoctl_option profile -l repeats -x -d 'Time each kernel so often'
__dynoctl_option profile -l trace -r -F -d 'The step as a trace'
__dynoctl_option bench -l exchange -d 'Under mpirun: measure sums over the ranks instead'
__dynoctl_option bench -l exchange-half -d 'Under mpirun, rows with AMP: gradients travel in fp16'
__dynoctl_option bench -l loader -d 'Measure what reading and decoding delivers instead'
__dynoctl_option bench -l workers -x -d 'With --loader: worker threads, or several numbers by commas'

__dynoctl_option kernels -l self-test -d 'Compute with every variant and compare with the reference'
__dynoctl_option kernels -l stats -d 'Registers, spills and workgroup memory of every variant'
functions -e __dynoctl_option
