import { AUTO, Game, Scale, Types } from 'phaser';
import { Boot } from './scenes/Boot';
import { GameOver } from './scenes/GameOver';
import { Orchard } from './scenes/Orchard';

const config: Types.Core.GameConfig = {
    type: AUTO,
    width: 800,
    height: 560,
    parent: 'game-container',
    backgroundColor: '#8ecae6',
    banner: false,
    audio: { noAudio: true },
    scale: {
        mode: Scale.FIT,
        autoCenter: Scale.CENTER_HORIZONTALLY,
        max: { width: 800, height: 560 }
    },
    physics: {
        default: 'arcade',
        arcade: { gravity: { x: 0, y: 180 } }
    },
    scene: [Boot, Orchard, GameOver]
};

const StartGame = (parent: string) => {

    return new Game({ ...config, parent });

};

export default StartGame;
